# SPDX-License-Identifier: Apache-2.0
"""What deploy/ ships, as data: alerts and dashboard panels with their expressions."""

import json
import pathlib

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "rules" / "octavo.yml"
PROMETHEUS = DEPLOY / "prometheus" / "prometheus.yml"
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "octavo.json"

# What Grafana puts in for its variables, as a test can put it in.
VARIABLES = {"$instance": ".*", "$__rate_interval": "1m", "${datasource}": "prometheus"}


def load_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def alerts():
    return [rule for group in load_yaml(RULES)["groups"] for rule in group["rules"]
            if "alert" in rule]


def dashboard():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def panels():
    """Panels that show data, those of folded rows too."""
    for panel in dashboard()["panels"]:
        if panel["type"] == "row":
            yield from panel.get("panels", [])
        else:
            yield panel


def with_variables(text):
    for name, value in VARIABLES.items():
        text = text.replace(name, value)
    return text


def expressions():
    """Pairs of a panel title and an expression, one for each target."""
    for panel in panels():
        for target in panel["targets"]:
            yield panel["title"], with_variables(target["expr"])
