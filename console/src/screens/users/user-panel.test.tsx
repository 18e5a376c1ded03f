import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Toaster } from "@/components/toaster";
import { renderConsole } from "@/testing/render";
import { UserPanel } from "./user-panel";

/** The status of each answer, the user's metadata as the server writes it, and the bodies of updates. */
let status: number;
let metadata: string;
let updates: string[];

beforeEach(() => {
  status = 200;
  metadata = "{}";
  updates = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (status !== 200) {
      return Response.json({ code: String(status), message: "Not any more." }, { status });
    }
    if (init.method === "PUT") updates.push(String(init.body));
    return new Response(
      `{"id":"u1","created_at":"2026-01-01T00:00:00Z","app_metadata":{},"user_metadata":${metadata}}`,
    );
  });
});

afterEach(() => vi.unstubAllGlobals());

it.each([401, 503])(
  "console_031_a_refetch_that_is_answered_by_%i_leaves_what_is_typed_and_says_so",
  async (answered) => {
    const { client } = renderConsole(
      <UserPanel id="u1" refusal={undefined} />,
      "/users?part=metadata",
    );
    const field = await screen.findByLabelText("User metadata");
    await userEvent.clear(field);
    await userEvent.paste('{"plan":"team"}');
    status = answered;
    await act(() => client.invalidateQueries({ queryKey: ["users"] }));

    expect(await screen.findByText(/could not be read again/)).toHaveTextContent("Not any more.");
    expect(screen.getByLabelText("User metadata")).toHaveValue('{"plan":"team"}');
    status = 200;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(screen.queryByText(/could not be read again/)).toBeNull());
    expect(screen.getByLabelText("User metadata")).toHaveValue('{"plan":"team"}');
  },
);

it("console_034_numbers_of_metadata_are_shown_with_all_digits_and_not_saved_with_fewer", async () => {
  metadata = '{"big":9007199254740993,"plan":"free"}';
  renderConsole(<UserPanel id="u1" refusal={undefined} />, "/users?part=metadata");
  const field = await screen.findByLabelText<HTMLTextAreaElement>("User metadata");
  expect(field).toHaveValue('{\n  "big": 9007199254740993,\n  "plan": "free"\n}');

  const type = async (text: string) => {
    await userEvent.clear(field);
    await userEvent.paste(text);
    await userEvent.click(screen.getByRole("button", { name: "Save" }));
  };
  await type('{"big":9007199254740993,"plan":"free","pi":3.14159265358979323846}');
  expect(await screen.findByText(/3\.14159265358979323846 has more digits/)).toBeVisible();
  expect(updates).toEqual([]);

  await type('{"big":9007199254740993,"plan":"team"}');
  await waitFor(() => expect(updates).toEqual(['{"user_metadata":{"plan":"team"}}']));
});

it("console_031_nothing_can_be_done_with_a_user_whom_somebody_else_has_deleted", async () => {
  const { client } = renderConsole(<UserPanel id="u1" refusal={undefined} />, "/users");
  expect(await screen.findByRole("button", { name: "Delete for good" })).toBeEnabled();
  status = 404;
  await act(() => client.invalidateQueries({ queryKey: ["users"] }));

  expect(await screen.findByText(/Somebody has deleted this user/)).toBeVisible();
  expect(screen.getByRole("button", { name: "Delete for good" })).toBeDisabled();
});

it("console_031_what_is_typed_about_a_user_stays_when_somebody_else_has_deleted_the_user", async () => {
  const { client } = renderConsole(
    <UserPanel id="u1" refusal={undefined} />,
    "/users?part=metadata",
  );
  const field = await screen.findByLabelText("User metadata");
  await userEvent.clear(field);
  await userEvent.paste('{"plan":"team"}');
  status = 404;
  await act(() => client.invalidateQueries({ queryKey: ["users"] }));

  expect(await screen.findByText(/Somebody has deleted this user/)).toBeVisible();
  expect(field).toHaveValue('{"plan":"team"}');
});

/** Deletes softly with an answer that does not come before `answer` is called. */
async function deleteSlowly(): Promise<() => void> {
  let answer = () => {};
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method === "DELETE") {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return new Response("{}");
    }
    return new Response(
      `{"id":"u1","created_at":"2026-01-01T00:00:00Z","app_metadata":{},"user_metadata":{}}`,
    );
  });
  await userEvent.click(await screen.findByRole("button", { name: "Delete softly" }));
  await userEvent.type(await screen.findByRole("textbox"), "u1");
  await userEvent.click(screen.getByRole("button", { name: "Delete user" }));
  return () => answer();
}

it("console_031_the_answer_about_a_deletion_closes_no_question_that_was_opened_since", async () => {
  renderConsole(
    <>
      <UserPanel id="u1" refusal={undefined} />
      <Toaster />
    </>,
    "/users?open=u1",
  );
  const answer = await deleteSlowly();
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await userEvent.click(screen.getByRole("button", { name: "Delete for good" }));
  answer();

  expect(await screen.findByText("The user was deleted")).toBeVisible();
  expect(screen.getByText("Delete this user for good?")).toBeVisible();
});
