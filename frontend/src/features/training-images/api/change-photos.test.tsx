import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { useDeletePhoto } from "./change-photos";

it("a photo that another device has put into the slot meanwhile stays when the former one is deleted", async () => {
  const deleted: URL[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = new URL(String(input), "http://site.test");
    if (init?.method === "DELETE" && url.pathname.includes("/rest/")) deleted.push(url);
    return Response.json([]);
  });
  const client = new QueryClient();
  const { result } = renderHook(() => useDeletePhoto("mira"), {
    wrapper: ({ children }) => (
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    ),
  });
  await result.current.mutateAsync({
    slot: 2,
    path: "training-images/mira/former.jpg",
    url: null,
  });

  expect(deleted.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual([
    {
      user_id: "eq.mira",
      image_order: "eq.2",
      image_url: "eq.training-images/mira/former.jpg",
    },
  ]);
});
