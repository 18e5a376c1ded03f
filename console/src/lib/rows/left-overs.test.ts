import { expect, it } from "vitest";
import type { Session } from "@/api/session";
import { leaveLeftOver, listLeftOvers, stagedStoreOf } from "./left-overs";

const insert = (id: string) => ({ id, change: { kind: "insert", table: "1", values: {} } });
const keep = (name: string, ...ids: string[]) =>
  localStorage.setItem(`console:staged:${name}`, JSON.stringify(ids.map(insert)));
const session = (name: string, key: string): Session => ({
  mode: "start",
  login: false,
  project: { name, key },
  version: "1",
});

it("console_054_what_an_earlier_version_has_staged_is_taken_over_once", () => {
  keep("Ana’s shop", "a");
  localStorage.setItem("console:sent:Ana’s shop", JSON.stringify({ id: "r", changes: [] }));
  const present = session("Ana’s shop", "k1");

  expect(stagedStoreOf(present).current()).toMatchObject([{ id: "a" }]);
  expect(stagedStoreOf(present).sent.lost()?.id).toBe("r");
  expect(localStorage.getItem("console:staged:Ana’s shop")).toBeNull();
  expect(stagedStoreOf(session("Ana’s shop", "k2")).current()).toEqual([]);
});

it("console_054_other_databases_of_this_name_are_asked_about_once_in_a_tab", () => {
  keep("den@k1", "a", "b");
  keep("den@k2", "c");
  keep("denim@k1", "d");

  const [found, ...others] = listLeftOvers(session("den", "k2"), null);

  expect(others).toEqual([]);
  expect(found).toEqual({ store: "den@k1", count: 2, account: null });
  if (found !== undefined) leaveLeftOver(found);
  expect(listLeftOvers(session("den", "k2"), null)).toEqual([]);
});
