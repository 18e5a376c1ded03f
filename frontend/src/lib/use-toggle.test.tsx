import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { useToggle } from "./use-toggle";

const idsKey = ["ids"];
const notice = { title: "", description: "" };

it("rolls one refused switch back and leaves those that were made meanwhile", async () => {
  const client = new QueryClient();
  client.setQueryData(idsKey, ["a"]);
  const ends = new Map<string, { accept: () => void; refuse: () => void }>();
  const { result } = renderHook(
    () =>
      useToggle({
        mutationKey: ["toggle"],
        idsKey,
        write: ({ id }) =>
          new Promise((resolve, reject) =>
            ends.set(id, { accept: resolve, refuse: () => reject(new Error("no")) }),
          ),
        staleKeys: [],
        switchedOn: notice,
        switchedOff: notice,
        alreadyOn: notice,
        failureText: "",
      }),
    {
      wrapper: ({ children }) => (
        <QueryClientProvider client={client}>{children}</QueryClientProvider>
      ),
    },
  );
  const ids = () => client.getQueryData<string[]>(idsKey)?.toSorted();

  act(() => result.current.mutate({ id: "b", on: true }));
  await waitFor(() => expect(ends.has("b")).toBe(true));
  act(() => result.current.mutate({ id: "c", on: true }));
  await waitFor(() => expect(ends.has("c")).toBe(true));
  expect(ids()).toEqual(["a", "b", "c"]);

  act(() => ends.get("b")?.refuse());
  await waitFor(() => expect(ids()).toEqual(["a", "c"]));
});
