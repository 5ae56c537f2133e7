# SPDX-License-Identifier: Apache-2.0
"""A check that passes everything is worth nothing: each rule here meets a file that breaks it."""

import unittest

import check_layers


def complaints(path, *includes):
    return check_layers.check_text(path, "".join(f"#include {i}\n" for i in includes))


class Layers(unittest.TestCase):
    def test_own_folder_and_reachable_folders_are_fine(self):
        self.assertEqual([], complaints("core/passes/rescale/absorb.cc", '"core/passes/rescale/absorb.h"',
                                        '"core/ir/graph.h"', '"core/base/status.h"', "<vector>"))
        self.assertEqual([], complaints("client/cli/run.cc", '"core/runtime/plan.h"',
                                        '"octavo/v1/jobs.grpc.pb.h"', "<grpcpp/grpcpp.h>"))

    def test_an_arrow_cannot_be_walked_backwards(self):
        self.assertEqual(["core/ir/graph.cc:2: core/ir may not include core/ops/op_table.h: it "
                          "reaches core/base, core/ir"],
                         complaints("core/ir/graph.cc", '"core/ir/graph.h"',
                                    '"core/ops/op_table.h"'))

    def test_siblings_do_not_see_each_other(self):
        self.assertEqual(1, len(complaints("core/onnx/import/import.cc", '"core/passes/pass.h"')))
        self.assertEqual(1, len(complaints("core/runtime/plan.cc", '"core/profile/profile.h"')))

    def test_core_sees_neither_server_nor_tests(self):
        self.assertEqual(1, len(complaints("core/job/job.cc", '"server/config.h"')))
        self.assertEqual(1, len(complaints("core/job/job.cc", '"tests/support/graphs.h"')))

    def test_a_server_does_not_look_into_a_job(self):
        self.assertEqual([], complaints("server/service/a.cc", '"core/job/job.h"'))
        self.assertEqual(1, len(complaints("server/service/a.cc", '"core/passes/pass.h"')))

    def test_a_path_must_start_at_the_root(self):
        self.assertEqual(1, len(complaints("core/ir/graph.cc", '"graph.h"')))

    def test_a_folder_without_a_row_is_named(self):
        self.assertIn("core/new", complaints("core/job/job.cc", '"core/new/x.h"')[0])


class OutsideHeaders(unittest.TestCase):
    def test_onnx_protobuf_stays_in_core_onnx(self):
        for header in ("<onnx/onnx_pb.h>", '"onnx/onnx-ml.pb.h"', '"onnx.pb.h"'):
            self.assertEqual([], [c for c in complaints("core/onnx/import/import.cc", header)
                                  if "may know" in c])
            self.assertIn("may know", complaints("core/job/job.cc", header)[0])

    def test_our_own_onnx_folder_is_not_onnx_protobuf(self):
        self.assertEqual([], complaints("core/job/job.cc", '"core/onnx/import/import.h"'))

    def test_grpc_stays_out_of_core(self):
        self.assertIn("gRPC", complaints("core/job/job.cc", "<grpcpp/server.h>")[0])
        self.assertIn("gRPC", complaints("core/native/read.cc", '"octavo/v1/jobs.grpc.pb.h"')[0])

    def test_protobuf_reaches_the_native_format_only(self):
        self.assertEqual([], complaints("core/native/read.cc", '"octavo/v1/graph.pb.h"',
                                        "<google/protobuf/arena.h>"))
        self.assertEqual(1, len(complaints("core/ir/graph.cc", '"octavo/v1/graph.pb.h"')))

    def test_prometheus_stays_in_metrics(self):
        self.assertEqual([], complaints("server/metrics/probe.cc", "<prometheus/counter.h>"))
        self.assertEqual(1, len(complaints("server/main.cc", "<prometheus/counter.h>")))

    def test_sqlite_stays_in_store(self):
        self.assertEqual([], complaints("server/store/database.cc", "<sqlite3.h>"))
        self.assertEqual(1, len(complaints("server/main.cc", "<sqlite3.h>")))

    def test_asio_stays_in_pool_and_http(self):
        for path in ("server/pool/pool.cc", "server/http/server.cc"):
            self.assertEqual([], complaints(path, "<boost/asio/post.hpp>"))
        self.assertEqual(1, len(complaints("server/main.cc", "<boost/beast/http.hpp>")))
        self.assertEqual(1, len(complaints("client/main.cc", "<boost/asio.hpp>")))


class Barred(unittest.TestCase):
    def test_views_do_not_compile_everywhere(self):
        self.assertIn("clang 14", complaints("core/ir/graph.cc", "<ranges>")[0])


class Table(unittest.TestCase):
    def test_every_arrow_ends_at_a_row(self):
        for rows in (*check_layers.LAYERS.values(), *check_layers.EXACT_LAYERS.values()):
            for row in rows:
                self.assertIn(row, check_layers.LAYERS)

    def test_there_is_no_cycle(self):
        for layer, below in check_layers.LAYERS.items():
            for row in below:
                self.assertNotIn(layer, check_layers.reachable(row))


if __name__ == "__main__":
    unittest.main()
