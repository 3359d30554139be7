"""Names of games: suggestions for a slip, a reason for what is impossible, and no other error
whatever is written."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from counterplay.core.base.errors import BadParameter, CounterplayError, UnknownName
from counterplay.core.forms.registry import GAMES, load


@pytest.mark.parametrize(
    ("wrong", "right"), [("khun", "kuhn"), ("leduk", "leduc"), ("gofspiel(3)", "goofspiel")]
)
def test_unknown_game_has_a_suggestion(wrong: str, right: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{right}'") as error:
        load(wrong)
    assert all(name in str(error.value) for name in GAMES)


IMPOSSIBLE = [
    *[
        "ocp",
        "ocp()",
        "ocp(1)",
        "ocp(3,4)",
        "ocp(x=3)",
        "ocp(-3)",
        "ocp(3.0)",
        "ocp('3')",
        "ocp(True)",
        "ocp(None)",
        "ocp(20001)",
    ],
    *[
        "kuhn(1)",
        "kuhn(players=1)",
        "kuhn(players=7)",
        "kuhn(players=two)",
        "kuhn(players=2,players=3)",
        "kuhn(**3)",
        "kuhn(*[3])",
    ],
    *["ocp(20001)", "kuhn(*[3])"],
    *[
        "leduc(suits=1)",
        "leduc(suits=no)",
        "goofspiel(0)",
        "goofspiel(14)",
        "bluff(1,1)",
        "bluff(1,1,0)",
        "bluff(0,1,6)",
    ],
    *[
        "bluff(11,5,6)",
        "pam(1,1,3)",
        "pam(3,3,0)",
        "pam(0,3,3)",
        "pam(3,3)",
        "pam(3,3,8,capture=nobody)",
        "pam(3,3,8,first=2)",
    ],
    *[
        "pam(3,3,8,stay=1)",
        "pam(3,3,8,same_start=0)",
        "",
        " ",
        "()",
        "kuhn(",
        "kuhn)",
        "kuhn[3]",
        "kuhn.load",
        "kuhn kuhn",
        "3",
    ],
    *[
        "kuhn(lambda: 3)",
        "kuhn(__import__('os'))",
        "lambda: kuhn",
        "kuhn\0",
        "\ud800",
        "kuhn(players={[]: 3})",
        "kuhn({{}})",
    ],
    *[
        "ocp(0x" + "f" * 5000 + ")",
        "ocp(" + "9" * 5000 + ")",
        "kuhn(" + "-" * 100_000 + "1)",
        "kuhn" + ".x" * 100_000,
    ],
]


@pytest.mark.parametrize("name", IMPOSSIBLE, ids=lambda name: repr(name)[:40])
def test_impossible_parameters(name: str) -> None:
    with pytest.raises(BadParameter):
        load(name)


@pytest.mark.parametrize("name", [None, 3, b"kuhn", ["kuhn"]])
def test_a_name_is_a_string(name: object) -> None:
    with pytest.raises(BadParameter, match="string"):
        load(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["kuhn", "kuhn()", " Kuhn ", "KUHN(2)", "kuhn(players=2)", "kuhn( players = 2 )"]
)
def test_spellings_of_one_game(name: str) -> None:
    assert load(name).name == "kuhn"


inside = st.text(alphabet="0123456789,=()[]{}+-*:'\" .xfabc\\n", max_size=20)
like_a_game = st.builds("{}({})".format, st.sampled_from([*GAMES, "khun"]), inside)


@given(st.text() | like_a_game)
@example("kuhn({[]:1})")
@settings(max_examples=500, deadline=None)
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_only_our_errors_escape(text: str) -> None:
    try:
        load(text)
    except CounterplayError as error:
        message = str(error)
    else:
        return
    assert message
