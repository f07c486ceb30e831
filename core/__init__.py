"""The words of the design as types, and the engine that moves them."""
