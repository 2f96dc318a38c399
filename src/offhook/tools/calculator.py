"""Arithmetic for models, which are bad at it: a small parser, since a model's text is never evaluated as code."""

import math
import re
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, localcontext
from typing import Final

from offhook.tools.errors import ToolCallFailed

MAX_EXPRESSION_CHARS: Final = 500
MAX_DEPTH: Final = 50
MAX_EXPONENT: Final = 1000
_TOKEN: Final = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d{1,4})?|\.\d+)|(\*\*|//|[-+*/%^(),])|([a-z]+\d*))")
_CONSTANTS: Final = {"pi": Decimal(repr(math.pi)), "e": Decimal(repr(math.e))}
_SIGNS: Final = {0x00D7: "*", 0x00F7: "/", 0x2212: "-", 0x00B7: "*"}  # multiplication, division and minus signs
_CONTEXT: Final = Context(prec=34, Emax=6144, Emin=-6143)


def evaluate_expression(expression: str) -> str:
    """Evaluates ``+ - * / // % ^ **``, brackets and a few functions; returns text without trailing zeros.

    Decimal arithmetic with 34 digits: 0.1 + 0.2 is 0.3. Raises ToolCallFailed with a sentence that the model can act
    on.
    """
    if len(expression) > MAX_EXPRESSION_CHARS:
        raise ToolCallFailed(f"The expression is longer than {MAX_EXPRESSION_CHARS} characters.")
    text = expression.lower().translate(_SIGNS)
    with localcontext(_CONTEXT):
        try:
            return _format_result(_ExpressionParser(_split_tokens(text)).parse_all())
        except ZeroDivisionError:
            raise ToolCallFailed("Division by zero.") from None
        except DecimalException as error:
            name = type(error).__name__
            raise ToolCallFailed(
                "The result is too large." if "Overflow" in name else "The expression has no result."
            ) from None


def _split_tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ToolCallFailed(
                f"{text[at : at + 10].strip()!r} is not arithmetic. Use numbers, + - * / % ^ and brackets."
            )
        tokens.append(match[1] or match[2] or match[3])
        at = match.end()
    return tokens


def _format_result(value: Decimal) -> str:
    if not value.is_finite():
        raise ToolCallFailed("The expression has no result.")
    rounded = value.quantize(Decimal(1)) if value == value.to_integral_value() and abs(value) < 10**30 else +value
    text = format(rounded.normalize(Context(prec=28, traps=[])), "f") if abs(rounded) < 10**30 else f"{rounded:.15e}"
    return "0" if text in {"-0", ""} else text


class _ExpressionParser:
    """Recursive descent; ``sum := product (±product)*``, ``product := power (*/% power)*``, ``power := unary ^ power``."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def parse_all(self) -> Decimal:
        value = self._parse_sum()
        if self._at < len(self._tokens):
            raise ToolCallFailed(f"{self._tokens[self._at]!r} is unexpected here.")
        return value

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _accept(self, *accepted: str) -> str:
        token = self._peek()
        if token in accepted:
            self._at += 1
            return token
        return ""

    def _parse_sum(self) -> Decimal:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ToolCallFailed("The expression has too many brackets.")
        value = self._parse_product()
        while operator := self._accept("+", "-"):
            right = self._parse_product()
            value = value + right if operator == "+" else value - right
        self._depth -= 1
        return value

    def _parse_product(self) -> Decimal:
        value = self._parse_signed()
        while operator := self._accept("*", "/", "//", "%"):
            right = self._parse_signed()
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

    def _parse_signed(self) -> Decimal:
        is_negative = False
        while sign := self._accept("+", "-"):
            is_negative ^= sign == "-"
        value = self._parse_power()
        return -value if is_negative else value

    def _parse_power(self) -> Decimal:
        base = self._parse_atom()
        if not self._accept("^", "**"):
            return base
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ToolCallFailed("The expression has too many powers.")
        exponent = self._parse_signed()
        self._depth -= 1
        if abs(exponent) > MAX_EXPONENT:
            raise ToolCallFailed(f"Exponents are limited to {MAX_EXPONENT}.")
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        return base**exponent

    def _parse_atom(self) -> Decimal:
        part = self._peek()
        self._at += 1
        if part == "(":
            value = self._parse_sum()
            self._expect_close()
            return value
        if part in _CONSTANTS:
            return _CONSTANTS[part]
        if part in _FUNCTIONS:
            return self._parse_function(part)
        if part and (part[0].isdecimal() or part[0] == "."):
            return Decimal(part)
        raise ToolCallFailed("The expression is incomplete." if not part else f"{part!r} is unexpected here.")

    def _parse_function(self, name: str) -> Decimal:
        if not self._accept("("):
            raise ToolCallFailed(f"Write {name}(…).")
        arguments = [self._parse_sum()]
        while self._accept(","):
            arguments.append(self._parse_sum())
        self._expect_close()
        least, most, function = _FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise ToolCallFailed(f"{name} takes {least} {'value' if least == 1 else 'values'}.")
        return function(*arguments)

    def _expect_close(self) -> None:
        if not self._accept(")"):
            raise ToolCallFailed("A bracket is missing.")


def _round_half_up(value: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    if abs(digits) > 20 or digits != digits.to_integral_value():
        raise ToolCallFailed("round takes a number of digits up to 20.")
    return value.quantize(Decimal(1).scaleb(-int(digits)), rounding="ROUND_HALF_UP")


_FUNCTIONS: Final[dict[str, tuple[int, int, Callable[..., Decimal]]]] = {
    "abs": (1, 1, abs),
    "sqrt": (1, 1, lambda value: value.sqrt()),
    "round": (1, 2, _round_half_up),
    "floor": (1, 1, lambda value: value.to_integral_value(rounding="ROUND_FLOOR")),
    "ceil": (1, 1, lambda value: value.to_integral_value(rounding="ROUND_CEILING")),
    "min": (1, 20, min),
    "max": (1, 20, max),
}
