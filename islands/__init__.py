"""Selection, archives, topologies, migration and novelty."""
