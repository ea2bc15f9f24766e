"""What the programs share: the task, the address, and the line that each case prints."""
import importlib
import importlib.util
import json
import os
import pathlib
import sys
import traceback

task = json.loads(pathlib.Path(__file__).with_name("task.json").read_text("utf8"))
root = os.environ["GATEWAY_ROOT"]
key = os.environ["GATEWAY_KEY"]
model = os.environ["GATEWAY_MODEL"]
sealed_thoughts = int(os.environ["GATEWAY_SEALED_THOUGHTS"])
embedding_model = os.environ.get("GATEWAY_EMBEDDING_MODEL", "")

calls = 0


def _count_calls_of(library):
    module = importlib.import_module(library)
    # What an asynchronous client sends begins with the call, too.
    for client in (module.Client, module.AsyncClient):
        _count_calls_to(client)


def _count_calls_to(client):
    send = client.send

    def counted(self, request, **options):
        global calls
        calls += 1
        return send(self, request, **options)

    client.send = counted


# Every client here sends with one of these libraries.
for _name in ("httpx", "httpx2"):
    if importlib.util.find_spec(_name) is not None:
        _count_calls_of(_name)

place_schema = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "degrees": {"type": "number"},
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city", "degrees", "labels"],
    "additionalProperties": False,
}

tools = [
    {
        "name": "weather",
        "description": "The weather of a city",
        "schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
    {
        "name": "convert",
        "description": "Degrees in Fahrenheit",
        "schema": {
            "type": "object",
            "properties": {
                "celsius": {"type": "number"},
                "flags": {
                    "type": "object",
                    "properties": {"exact": {"type": "boolean"}},
                    "required": ["exact"],
                    "additionalProperties": False,
                },
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["celsius", "flags", "labels"],
            "additionalProperties": False,
        },
    },
    {
        "name": "note",
        "description": "Remembers",
        "schema": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    },
]


class World:
    """What the tools answer, and what they were called with."""

    def __init__(self):
        self.called = {"weather": [], "convert": [], "note": []}

    def use(self, name, given):
        self.called[name].append(given)
        result = task["tools"]["results"][name]
        return f"{result}{given['city']}" if name == "weather" else result

    def check(self, at_once=False):
        """`at_once`: the client runs the calls of one turn side by side, in no order."""
        weather = self.called["weather"]
        if at_once:
            weather = sorted(weather, key=lambda given: given["city"])
        equal(weather, task["tools"]["weather"])
        equal(self.called["convert"], task["tools"]["convert"])
        equal(self.called["note"], [{}])


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def vector(values):
    """Holds that this is one of the embedding model's vectors."""
    equal(len(values), task["embeddings"]["dimensions"])
    assert abs(sum(value * value for value in values) - 1) < 0.01, "the vector has not the length of 1"


def refusal(call, kind, status=None, says=""):
    """The error that a call ends with, which must be of this class and have this status."""
    try:
        call()
    except kind as error:
        if status is not None:
            equal(error.status_code if hasattr(error, "status_code") else error.status, status)
        assert says in str(error), f"{error} does not say {says}"
        return error
    raise AssertionError("the call was answered")


def _describe(error):
    """What it says, what it comes from, and where in the program it came."""
    cause = f" <- {error.__cause__}" if error.__cause__ else ""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"line {frame.lineno}" for frame in frames if "site-packages" not in frame.filename]
    return f"{error}{cause} ({', '.join(places)})"[:1500]


def play(cases):
    """Plays the cases one after another and prints a line of JSON for each; what a client prints itself goes to stderr."""
    lines, sys.stdout = sys.stdout, sys.stderr
    for name, run in cases.items():
        before = calls
        failure = None
        try:
            run()
        except BaseException as error:
            failure = {"name": type(error).__name__, "message": _describe(error)}
        print(json.dumps({"case": name, "calls": calls - before, "failure": failure}), file=lines, flush=True)
