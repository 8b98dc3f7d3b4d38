"""What a request costs, and what each key has left (rows credits_used, credit_balance)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

OPENING_BALANCE: Final = 5_000_000
_MAX_ACCOUNTS: Final = 10_000


def price(prompt_tokens: int, completion_tokens: int) -> int:
    """Credits of one request: an eighth per prompt token and a quarter per generated one, rounded up."""
    return -(-(prompt_tokens + 2 * completion_tokens) // 8)


class Accounts:
    """Balances by API key, in memory; the least recently used are forgotten first."""

    def __init__(self, opening: int = OPENING_BALANCE) -> None:
        self._opening = opening
        self._balances: OrderedDict[str, int] = OrderedDict()

    def balance(self, key: str) -> int:
        """Credits left."""
        return self._balances.get(key, self._opening)

    def charge(self, key: str, credits_used: int) -> int:
        """Take credits, and return what is left."""
        left = self.balance(key) - credits_used
        self._balances[key] = left
        self._balances.move_to_end(key)
        while len(self._balances) > _MAX_ACCOUNTS:
            self._balances.popitem(last=False)
        return left
