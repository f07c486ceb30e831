"""The components that come with speciate, registered by the same door as anyone else's."""
