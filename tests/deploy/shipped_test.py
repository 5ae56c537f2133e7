#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dashboard, alerts, compose file and runbook fit together."""

import re
import unittest

import promql
import shipped

# Grafana's names of units.
UNITS = {"none", "s", "ops", "reqps", "bytes", "Bps", "percentunit", "dB"}

# The metrics of the service; the scrape test finds out that a server has them.
KNOWN = re.compile(r"(up|(octavo|process|grpc_server)_[a-z_]+)$")


class Dashboard(unittest.TestCase):
    def test_every_panel_says_what_it_shows(self):
        for panel in shipped.panels():
            with self.subTest(panel=panel.get("title")):
                self.assertTrue(panel["title"])
                self.assertTrue(panel["description"])
                self.assertIn(panel["fieldConfig"]["defaults"]["unit"], UNITS)
                self.assertEqual(panel["datasource"]["type"], "prometheus")
                self.assertTrue(panel["targets"])
                for target in panel["targets"]:
                    self.assertTrue(target["expr"])
                    self.assertEqual(target["datasource"], panel["datasource"])

    def test_ids_and_target_letters_are_unique(self):
        panels = shipped.dashboard()["panels"]
        ids = [panel["id"] for panel in panels]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in shipped.panels():
            letters = [target["refId"] for target in panel["targets"]]
            self.assertEqual(len(letters), len(set(letters)), panel["title"])

    def test_panels_lie_on_the_grid_without_overlap(self):
        taken = {}
        for panel in shipped.dashboard()["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken[x, y] = panel["title"]

    def test_variables_are_declared(self):
        names = {variable["name"] for variable in shipped.dashboard()["templating"]["list"]}
        for panel in shipped.panels():
            for target in panel["targets"]:
                used = set(re.findall(r"\$\{?([a-z][a-z_]*)", target["expr"]))
                self.assertLessEqual(used, names, panel["title"])

    def test_reads_metrics_of_the_service_only(self):
        for title, expression in shipped.expressions():
            with self.subTest(panel=title):
                names = promql.metrics(expression)
                self.assertTrue(names)
                self.assertEqual([name for name in names if not KNOWN.match(name)], [])

    def test_provisioning_points_at_it(self):
        folder = shipped.DEPLOY / "grafana" / "provisioning"
        provider = shipped.load_yaml(folder / "dashboards" / "octavo.yml")["providers"][0]
        mounts = shipped.load_yaml(shipped.DEPLOY / "compose.yaml")["services"]["grafana"]["volumes"]
        source = next(mount.split(":")[0] for mount in mounts
                      if mount.split(":")[1] == provider["options"]["path"])
        self.assertTrue((shipped.DEPLOY / source / "octavo.json").is_file())
        (datasource,) = shipped.load_yaml(folder / "datasources" / "prometheus.yml")["datasources"]
        variable = shipped.dashboard()["templating"]["list"][0]
        self.assertEqual(variable["current"]["value"], datasource["uid"])


class Alerts(unittest.TestCase):
    def test_have_a_summary_a_severity_and_a_runbook_section(self):
        runbook = (shipped.DEPLOY / "README.md").read_text(encoding="utf-8")
        sections = {line[3:].strip().lower() for line in runbook.splitlines()
                    if line.startswith("## ")}
        for alert in shipped.alerts():
            with self.subTest(alert=alert["alert"]):
                self.assertIn(alert["labels"]["severity"], {"page", "ticket"})
                self.assertTrue(alert["annotations"]["summary"])
                path, anchor = alert["annotations"]["runbook"].split("#")
                self.assertEqual(path, "deploy/README.md")
                self.assertEqual(anchor, alert["alert"].lower())
                self.assertIn(anchor, sections)

    def test_compare_with_a_threshold(self):
        for alert in shipped.alerts():
            self.assertIsNotNone(promql.without_comparison(alert["expr"]), alert["alert"])

    def test_are_each_seen_firing_and_silent(self):
        tests = shipped.load_yaml(shipped.ROOT / "tests" / "deploy" / "rules_test.yml")["tests"]
        seen = {(case["alertname"], bool(case["exp_alerts"]))
                for test in tests for case in test["alert_rule_test"]}
        for alert in shipped.alerts():
            self.assertIn((alert["alert"], True), seen)
            self.assertIn((alert["alert"], False), seen)


class Compose(unittest.TestCase):
    def setUp(self):
        self.services = shipped.load_yaml(shipped.DEPLOY / "compose.yaml")["services"]

    def test_the_service_has_no_rights(self):
        octavod = self.services["octavod"]
        self.assertIs(octavod["read_only"], True)
        self.assertEqual(octavod["cap_drop"], ["ALL"])
        self.assertIn("no-new-privileges:true", octavod["security_opt"])

    def test_prometheus_scrapes_the_port_of_the_image(self):
        dockerfile = (shipped.ROOT / "Dockerfile").read_text(encoding="utf-8")
        port = re.search(r"OCTAVO_METRICS=0\.0\.0\.0:(\d+)", dockerfile).group(1)
        (scrape,) = shipped.load_yaml(shipped.PROMETHEUS)["scrape_configs"]
        self.assertEqual(scrape["static_configs"], [{"targets": [f"octavod:{port}"]}])
        self.assertIn("octavod", self.services)

    def test_mounted_files_exist(self):
        for name, service in self.services.items():
            for mount in service.get("volumes", []):
                source = mount.split(":")[0]
                if source.startswith("."):
                    self.assertTrue((shipped.DEPLOY / source).exists(), f"{name}: {source}")


if __name__ == "__main__":
    unittest.main()
