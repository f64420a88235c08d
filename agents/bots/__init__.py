"""Bots in other processes, in any language: the protocol is described in `README.md`."""
