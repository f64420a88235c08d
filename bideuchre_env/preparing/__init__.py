"""What teaches agents a game: `net` its cards, and rules of one's own all that can be learned."""
