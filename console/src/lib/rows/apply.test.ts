import { afterEach, expect, it, vi } from "vitest";
import { applyStaged } from "./apply";
import { stageUpdate } from "./staged";
import { openStagedStore } from "./staged-store";

afterEach(() => vi.unstubAllGlobals());

/** Answers each request with the next of these. */
function stubAnswers(...answers: (Response | Error)[]) {
  const sent: { changes: { row: { key: string[] } }[] }[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    sent.push(JSON.parse(String(init.body)));
    const answer = answers.shift();
    if (answer instanceof Response) return answer;
    throw answer;
  });
  return sent;
}

const conflict = () =>
  Response.json(
    {
      code: "conflict",
      message: "Somebody else has changed the row",
      conflicts: [{ change: 0, base: { a: "1" }, theirs: { a: "9" }, mine: { a: "2" }, id: null }],
    },
    { status: 409 },
  );

it("console_033_a_conflict_names_the_changes_that_were_sent_and_no_others", async () => {
  const store = openStagedStore("shop");
  for (const key of ["1", "2", "3"]) {
    store.update((before) =>
      stageUpdate(before, "9", { key: [key] }, { a: "1" }, { a: { value: "2" } }),
    );
  }
  const second = store.current()[1]?.id ?? "";
  const sent = stubAnswers(conflict(), conflict());

  const outcome = await applyStaged(store, [second]);

  expect(outcome).toMatchObject({ kind: "conflict", batch: [second] });
  if (outcome?.kind !== "conflict") throw new Error("no conflict");
  await applyStaged(store, outcome.batch);
  expect(sent.map(({ changes }) => changes.map(({ row }) => row.key))).toEqual([[["2"]], [["2"]]]);
});
