import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { request } from "@/api/client";
import { useSession } from "@/api/session";
import { keepState } from "@/lib/forms/kept-state";
import { stageInsert } from "@/lib/rows/staged";
import { openStagedStore, stagedStore } from "@/lib/rows/staged-store";
import { currentToasts, dismissToast } from "@/lib/toast";
import { SessionGate } from "./session-gate";
import { OtherProjectBar } from "./shell/other-project-bar";

/** The account that is signed in; null while nobody is. */
let account: string | null;
/** The project that the address serves. */
let project: { name: string; key?: string };
/** The project that each request named. */
const asked: (string | undefined)[] = [];

const sessionOf = (name: string | null) => ({
  mode: "serve",
  login: true,
  project,
  version: "1",
  ...(name !== null && { account: { name, level: "admin" } }),
});

beforeEach(() => {
  account = "ana";
  project = { name: "shop" };
  asked.length = 0;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    if (path === "/api/session" && init.method === "POST") {
      account = JSON.parse(String(init.body)).name;
      return Response.json({ secret: `secret of ${account}`, account });
    }
    if (path === "/api/session") return Response.json(sessionOf(account));
    const named = (init.headers as Record<string, string>)["x-selvedge-project"];
    asked.push(named);
    if (named !== project.key)
      return Response.json({ code: "other_project", message: "No" }, { status: 409 });
    return account === null
      ? Response.json({ code: "signed_out", message: "Sign in" }, { status: 401 })
      : Response.json({});
  });
});
afterEach(() => vi.unstubAllGlobals());

/** What the screens have shown of the rows, in order, each time with the account that they belong to. */
const shownRows: string[] = [];

function Screen() {
  const name = useSession().account?.name;
  const rows = useQuery({ queryKey: ["rows"], queryFn: async () => `rows of ${name}` }).data;
  shownRows.push(`${name}: ${rows}`);
  return (
    <>
      <OtherProjectBar />
      <p>{`screen of ${name}`}</p>
      <input aria-label="Note" />
    </>
  );
}

function open() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
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

it("console_031_another_account_is_told_that_text_of_the_former_one_waits_in_this_tab", async () => {
  open();
  await screen.findByText("screen of ana");
  keepState("shop:ana request", { body: "{}" }, true);
  await endSession();
  await signInAs("ben");

  expect(await screen.findByText("screen of ben")).toBeInTheDocument();
  expect(currentToasts().at(-1)?.title).toBe("ana has typed text that was not saved");

  // Nothing is said of the other one, who has typed nothing.
  for (const { id } of currentToasts()) dismissToast(id);
  await endSession();
  await signInAs("ana");
  expect(await screen.findByText("screen of ana")).toBeInTheDocument();
  expect(currentToasts()).toEqual([]);
  keepState("shop:ana request", null, false);
});

it("console_013_another_account_never_sees_what_the_former_has_read", async () => {
  shownRows.length = 0;
  open();
  await waitFor(() => expect(shownRows).toContain("ana: rows of ana"));
  await endSession();
  // Covered at once and by more than a shade: the dialog's own overlay lets rows through.
  expect(document.querySelector(".bg-canvas.fixed.inset-0")).not.toBeNull();
  expect(screen.getByLabelText("Note").closest("[inert]")).not.toBeNull();
  await signInAs("ben");
  await waitFor(() => expect(shownRows).toContain("ben: rows of ben"));

  expect(shownRows).not.toContain("ben: rows of ana");
  expect(document.querySelector(".bg-canvas.fixed.inset-0")).toBeNull();
});

it("console_013_a_password_is_sent_with_the_key_of_the_project_whose_name_is_shown", async () => {
  account = null;
  project = { name: "shop", key: "k1" };
  const sent: (string | undefined)[] = [];
  const answer = globalThis.fetch;
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    if (init.method === "POST") {
      sent.push((init.headers as Record<string, string>)["x-selvedge-project"]);
    }
    return answer(path, init);
  });
  open();
  await userEvent.type(await screen.findByLabelText("Account"), "ana");
  await userEvent.type(screen.getByLabelText("Password"), "secret");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));

  await waitFor(() => expect(sent).toEqual(["k1"]));
});

it("console_013_a_sign_out_in_another_tab_covers_this_one", async () => {
  localStorage.setItem("console:secret", "of ana");
  open();
  await screen.findByText("screen of ana");
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  localStorage.removeItem("console:secret");
  act(() => {
    window.dispatchEvent(new StorageEvent("storage", { key: "console:secret", newValue: null }));
  });

  expect(await screen.findByText("Your session has ended")).toBeVisible();
});

it("console_033_a_page_tells_its_project_with_every_request_and_keeps_what_is_typed_when_another_is_here", async () => {
  project = { name: "shop", key: "k1" };
  open();
  await userEvent.type(await screen.findByLabelText("Note"), "for the shop");
  await request("/api/rows/apply", { json: {} });
  project = { name: "museum", key: "k2" };
  await act(() => request("/api/rows/apply", { json: {} }).catch(() => undefined));

  expect(await screen.findByText(/runs at this address now/)).toHaveTextContent("museum");
  expect(asked).toEqual(["k1", "k1"]);
  expect(screen.getByLabelText("Note")).toHaveValue("for the shop");
  // The first project takes its place again.
  project = { name: "shop", key: "k1" };
  await waitFor(() => expect(screen.queryByRole("alert")).not.toBeInTheDocument());
  expect(screen.getByLabelText("Note")).toHaveValue("for the shop");
});

it("console_054_changes_for_another_database_of_this_name_wait_until_they_are_taken_over", async () => {
  project = { name: "shop", key: "new" };
  stagedStore("shop:ana@old").update((before) => stageInsert(before, "9", {}));
  open();

  expect(await screen.findByText("1 staged change of another database")).toBeVisible();
  expect(openStagedStore("shop:ana@new").current()).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Take them over" }));
  expect(openStagedStore("shop:ana@new").current()).toHaveLength(1);
  expect(openStagedStore("shop:ana@old").current()).toEqual([]);
  expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
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
