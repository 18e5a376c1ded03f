import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter } from "react-router";
import { type Session, sessionQuery } from "@/api/session";

export const testSession: Session = {
  mode: "start",
  login: false,
  project: { name: "shop" },
  version: "1",
};

/** Renders a part of the signed-in console. The returned client holds the session. */
export function renderConsole(children: ReactNode, address = "/") {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(sessionQuery.queryKey, testSession);
  const wrap = (content: ReactNode) => (
    <QueryClientProvider client={client}>
      <MemoryRouter initialEntries={[address]}>{content}</MemoryRouter>
    </QueryClientProvider>
  );
  const view = render(wrap(children));
  return { client, ...view, rerender: (next: ReactNode) => view.rerender(wrap(next)) };
}
