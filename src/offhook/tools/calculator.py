"""Arithmetic for models, which are bad at it: a small parser, because nothing a model writes is ever evaluated as code."""

import math
import re
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, localcontext
from typing import Final

from offhook.tools.errors import CallFailed

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 50
MAX_EXPONENT: Final = 1000
_TOKEN: Final = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d{1,4})?|\.\d+)|(\*\*|//|[-+*/%^(),])|([a-z]+\d*))")
_CONSTANTS: Final = {"pi": Decimal(repr(math.pi)), "e": Decimal(repr(math.e))}
_SIGNS: Final = {0x00D7: "*", 0x00F7: "/", 0x2212: "-", 0x00B7: "*"}  # multiplication, division and minus signs
_CONTEXT: Final = Context(prec=34, Emax=6144, Emin=-6143)


def calculate(expression: str) -> str:
    """The value of ``+ - * / // % ^ **``, brackets and a few functions, as text without useless zeros.

    Decimal arithmetic with 34 digits: 0.1 + 0.2 is 0.3. Raises CallFailed with a sentence that the model can act on.
    """
    if len(expression) > MAX_LENGTH:
        raise CallFailed(f"The expression is longer than {MAX_LENGTH} characters.")
    text = expression.lower().translate(_SIGNS)
    with localcontext(_CONTEXT):
        try:
            return _shown(_Parser(_tokens(text)).whole())
        except ZeroDivisionError:
            raise CallFailed("This divides by zero.") from None
        except DecimalException as error:
            name = type(error).__name__
            raise CallFailed("The result is too large." if "Overflow" in name else "This has no result.") from None


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CallFailed(
                f"{text[at : at + 10].strip()!r} is not arithmetic. Use numbers, + - * / % ^ and brackets."
            )
        tokens.append(match[1] or match[2] or match[3])
        at = match.end()
    return tokens


def _shown(value: Decimal) -> str:
    if not value.is_finite():
        raise CallFailed("This has no result.")
    rounded = value.quantize(Decimal(1)) if value == value.to_integral_value() and abs(value) < 10**30 else +value
    text = format(rounded.normalize(Context(prec=28, traps=[])), "f") if abs(rounded) < 10**30 else f"{rounded:.15e}"
    return "0" if text in {"-0", ""} else text


class _Parser:
    """Recursive descent; ``sum := product (±product)*``, ``product := power (*/% power)*``, ``power := unary ^ power``."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Decimal:
        value = self._sum()
        if self._at < len(self._tokens):
            raise CallFailed(f"{self._tokens[self._at]!r} was not expected there.")
        return value

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *accepted: str) -> str:
        token = self._peek()
        if token in accepted:
            self._at += 1
            return token
        return ""

    def _sum(self) -> Decimal:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CallFailed("The expression has too many brackets.")
        value = self._product()
        while operator := self._take("+", "-"):
            right = self._product()
            value = value + right if operator == "+" else value - right
        self._depth -= 1
        return value

    def _product(self) -> Decimal:
        value = self._signed()
        while operator := self._take("*", "/", "//", "%"):
            right = self._signed()
            if operator == "*":
                value *= right
            elif right == 0:
                raise ZeroDivisionError
            elif operator == "/":
                value /= right
            else:
                whole = (value / right).to_integral_value(rounding="ROUND_FLOOR")
                value = whole if operator == "//" else value - whole * right
        return value

    def _signed(self) -> Decimal:
        is_negative = False
        while sign := self._take("+", "-"):
            is_negative ^= sign == "-"
        value = self._power()
        return -value if is_negative else value

    def _power(self) -> Decimal:
        base = self._atom()
        if not self._take("^", "**"):
            return base
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CallFailed("The expression has too many powers.")
        exponent = self._signed()
        self._depth -= 1
        if abs(exponent) > MAX_EXPONENT:
            raise CallFailed(f"An exponent is at most {MAX_EXPONENT}.")
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        return base**exponent

    def _atom(self) -> Decimal:
        part = self._peek()
        self._at += 1
        if part == "(":
            value = self._sum()
            self._close()
            return value
        if part in _CONSTANTS:
            return _CONSTANTS[part]
        if part in _FUNCTIONS:
            return self._function(part)
        if part and (part[0].isdecimal() or part[0] == "."):
            return Decimal(part)
        raise CallFailed("The expression ends too early." if not part else f"{part!r} was not expected there.")

    def _function(self, name: str) -> Decimal:
        if not self._take("("):
            raise CallFailed(f"Write {name}(…).")
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._close()
        least, most, function = _FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise CallFailed(f"{name} takes {least} {'value' if least == 1 else 'values'}.")
        return function(*arguments)

    def _close(self) -> None:
        if not self._take(")"):
            raise CallFailed("A bracket is not closed.")


def _round(value: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    if abs(digits) > 20 or digits != digits.to_integral_value():
        raise CallFailed("round takes a number of digits up to 20.")
    return value.quantize(Decimal(1).scaleb(-int(digits)), rounding="ROUND_HALF_UP")


_FUNCTIONS: Final[dict[str, tuple[int, int, Callable[..., Decimal]]]] = {
    "abs": (1, 1, abs),
    "sqrt": (1, 1, lambda value: value.sqrt()),
    "round": (1, 2, _round),
    "floor": (1, 1, lambda value: value.to_integral_value(rounding="ROUND_FLOOR")),
    "ceil": (1, 1, lambda value: value.to_integral_value(rounding="ROUND_CEILING")),
    "min": (1, 20, min),
    "max": (1, 20, max),
}
