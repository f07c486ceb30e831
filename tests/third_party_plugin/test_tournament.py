from speciate.core.testing import SelectorContract
from speciate_tournament import Tournament


class TestTournament(SelectorContract):
    def component(self):
        return Tournament()
