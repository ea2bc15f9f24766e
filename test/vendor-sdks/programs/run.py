"""Runs all SDKs of PyPI in one process: `run.py <plan.json>`, as `run.ts` does those of npm."""

import importlib.util
import json
import sys
from types import SimpleNamespace

with open(sys.argv[1]) as file:
    plan = json.load(file)
with open(plan["soundFile"], "rb") as file:
    sound = file.read()


def load(program):
    spec = importlib.util.spec_from_file_location("program_of_sdk", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


errors = {}
for run in plan["runs"]:
    at = SimpleNamespace(url=run["url"], key=plan["key"], sound=sound, sound_file=plan["soundFile"], address=plan["address"])
    try:
        load(run["program"]).intentions[run["intention"]](at)
    except Exception as error:
        errors[f"{run['program']} {run['intention']}"] = f"{type(error).__name__}: {error}"
print(json.dumps(errors))
