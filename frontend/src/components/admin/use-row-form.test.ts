import { act, renderHook, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import * as z from "zod/mini";
import type { RowChange } from "@/lib/admin-rows";
import { OvertakenError } from "@/lib/save-changes";
import { useRowForm } from "./use-row-form";

type Values = { name: string };
type Stored = Values & { id: string; version: number };

it("a new row that somebody else has changed meanwhile is asked about and then saved as theirs with the own edit", async () => {
  const theirs = { name: "Of the other" };
  const save = vi.fn(async (_: RowChange<Values>) => undefined);
  save.mockRejectedValueOnce(new OvertakenError(theirs, [], { ...theirs, id: "1", version: 2 }));
  const onClose = vi.fn();
  const { result } = renderHook(() =>
    useRowForm<Values, Stored>({
      row: null,
      schema: z.object({ name: z.string() }),
      toValues: (row) => ({ name: row?.name ?? "" }),
      pictures: [],
      save,
      onClose,
    }),
  );
  act(() => result.current.form.setValue("name", "Mine"));
  await act(() => result.current.submit());
  await waitFor(() => expect(result.current.overtaken?.fields).toEqual(["name"]));
  const [[first]] = save.mock.calls as [[RowChange<Values> & { newId: string }]];

  await act(async () => result.current.overtaken?.resolve([]));
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(save).toHaveBeenLastCalledWith({
    id: first.newId,
    values: { name: "Mine" },
    before: theirs,
    version: 2,
  });
});

function open(save: () => Promise<unknown>) {
  const onClose = vi.fn();
  const view = renderHook(() =>
    useRowForm<Values, Stored>({
      row: null,
      schema: z.object({ name: z.string() }),
      toValues: (row) => ({ name: row?.name ?? "" }),
      pictures: ["name"],
      save,
      onClose,
    }),
  );
  return { ...view, onClose };
}

it("a form that was closed while it was saved closes no other one when the answer comes, and keeps the saved picture", async () => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { result, unmount, onClose } = open(() => answered);
  const [kept, replaced] = ["kept", "replaced"].map(
    (name) => `/storage/v1/object/public/images/${name}.webp`,
  );
  for (const url of [kept, replaced]) result.current.onUploaded(`${url}`);
  act(() => result.current.form.setValue("name", `${kept}`));
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (_: unknown, init?: RequestInit) => {
    asked.push(String(init?.body));
    return Response.json(true);
  });
  act(() => void result.current.submit());
  await waitFor(() => expect(result.current.isSaving).toBe(true));
  act(() => result.current.cancel());
  expect(onClose).toHaveBeenCalledOnce();
  unmount();
  expect(asked).toEqual([]);

  answer();
  await waitFor(() => expect(asked).toEqual([expect.stringContaining("replaced")]));
  expect(onClose).toHaveBeenCalledOnce();
  vi.unstubAllGlobals();
});
