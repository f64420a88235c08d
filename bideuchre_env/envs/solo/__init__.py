"""Gymnasium: one learner, the other seats played inside, one table or many."""
