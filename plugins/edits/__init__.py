"""How programs are written by a policy: prompts, the reading of replies, and the operators that use both."""
