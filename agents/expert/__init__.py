"""The expert: tables and a network weigh its calls, and a search plays the last tricks."""
