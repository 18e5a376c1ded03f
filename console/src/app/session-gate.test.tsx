import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { request } from "@/api/client";
import { useSession } from "@/api/session";
import { stageInsert } from "@/lib/rows/staged";
import { openStagedStore, stagedStore } from "@/lib/rows/staged-store";
import { SessionGate } from "./session-gate";

/** The account that is signed in; null while nobody is. */
let account: string | null;

const sessionOf = (name: string | null) => ({
  mode: "serve",
  login: true,
  project: { name: "shop" },
  version: "1",
  ...(name !== null && { account: { name, level: "admin" } }),
});

beforeEach(() => {
  account = "ana";
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    if (path === "/api/session" && init.method === "POST") {
      account = JSON.parse(String(init.body)).name;
      return Response.json({ secret: `secret of ${account}`, account });
    }
    if (path === "/api/session") return Response.json(sessionOf(account));
    return account === null
      ? Response.json({ code: "signed_out", message: "Sign in" }, { status: 401 })
      : Response.json({});
  });
});
afterEach(() => vi.unstubAllGlobals());

const Screen = () => (
  <>
    <p>{`screen of ${useSession().account?.name}`}</p>
    <input aria-label="Note" />
  </>
);

function open() {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <SessionGate>
        <Screen />
      </SessionGate>
    </QueryClientProvider>,
  );
}

/** The server ends the session, and the next request learns of it. */
async function endSession(): Promise<void> {
  account = null;
  await act(() => request("/api/anything").catch(() => undefined));
  expect(await screen.findByText("Your session has ended")).toBeVisible();
}

async function signInAs(name: string): Promise<void> {
  const field = screen.getByLabelText("Account");
  await userEvent.clear(field);
  await userEvent.type(field, name);
  await userEvent.type(screen.getByLabelText("Password"), "secret");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  await waitFor(() => expect(screen.queryByText("Your session has ended")).not.toBeInTheDocument());
}

it("console_031_what_was_typed_is_still_there_after_signing_in_again", async () => {
  open();
  await userEvent.type(await screen.findByLabelText("Note"), "half a form");
  await endSession();
  await userEvent.keyboard("{Escape}");
  expect(screen.getByText("Your session has ended")).toBeVisible();
  expect(screen.getByLabelText("Account")).toHaveValue("ana");

  await signInAs("ana");

  expect(screen.getByLabelText("Note")).toHaveValue("half a form");
});

it("console_013_another_account_begins_anew_and_is_asked_about_staged_changes", async () => {
  stagedStore("shop:ana").update((before) => stageInsert(before, "9", {}));
  open();
  await userEvent.type(await screen.findByLabelText("Note"), "of ana");
  await endSession();
  await signInAs("ben");

  expect(await screen.findByText("screen of ben")).toBeInTheDocument();
  expect(screen.getByLabelText("Note")).toHaveValue("");
  expect(openStagedStore("shop:ben").current()).toEqual([]);
  await userEvent.click(await screen.findByRole("button", { name: "Take them over" }));
  expect(openStagedStore("shop:ben").current()).toHaveLength(1);
  expect(openStagedStore("shop:ana").current()).toEqual([]);
});

it("console_013_the_secret_of_a_newer_sign_in_survives_a_refusal_of_the_older_one", async () => {
  localStorage.setItem("console:secret", "old");
  account = null;
  const refused = request("/api/anything").catch(() => undefined);
  // Another tab signs in before the answer is there.
  localStorage.setItem("console:secret", "new");
  await refused;

  expect(localStorage.getItem("console:secret")).toBe("new");
});
