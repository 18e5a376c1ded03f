import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import type { User } from "./api";
import { UserMetadata } from "./user-metadata";

const base: User = {
  id: "u1",
  created_at: "2026-01-01T00:00:00Z",
  app_metadata: {},
  user_metadata: { plan: "free", seats: 1 },
};

/** The user as the server has it, and the bodies of the updates it got. */
let stored: User;
let updates: { user_metadata: Record<string, unknown> }[];
/** Called before the answer of an update is given. */
let beforeAnswer: () => Promise<void>;

beforeEach(() => {
  stored = structuredClone(base);
  updates = [];
  beforeAnswer = async () => undefined;
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method === "PUT") {
      const body = JSON.parse(String(init.body));
      updates.push(body);
      Object.assign(stored.user_metadata, body.user_metadata);
      await beforeAnswer();
    }
    return Response.json(structuredClone(stored));
  });
});

afterEach(() => vi.unstubAllGlobals());

const field = () => screen.getByLabelText<HTMLTextAreaElement>("User metadata");

async function typeJson(value: unknown): Promise<void> {
  await userEvent.clear(field());
  await userEvent.click(field());
  await userEvent.paste(JSON.stringify(value));
}

const save = () => userEvent.click(screen.getByRole("button", { name: "Save" }));

it("console_033_saving_does_not_take_back_what_was_saved_since_the_edit_began", async () => {
  const { rerender } = renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await typeJson({ plan: "free", seats: 5 });

  stored.user_metadata = { plan: "pro", seats: 1, credit: 9 };
  rerender(<UserMetadata user={structuredClone(stored)} refusal={undefined} />);
  expect(JSON.parse(field().value)).toEqual({ plan: "free", seats: 5 });
  await save();

  await waitFor(() => expect(updates).toEqual([{ user_metadata: { seats: 5 } }]));
  await waitFor(() =>
    expect(JSON.parse(field().value)).toEqual({ plan: "pro", seats: 5, credit: 9 }),
  );
});

it("console_033_a_key_that_both_have_changed_is_asked_about", async () => {
  renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await typeJson({ plan: "team", seats: 2 });
  stored.user_metadata = { plan: "pro", seats: 1 };
  await save();

  expect(await screen.findByRole("alert")).toHaveTextContent("Theirs: proMine: team");
  expect(updates).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Take theirs" }));
  expect(JSON.parse(field().value)).toEqual({ plan: "pro", seats: 2 });
  await save();
  await waitFor(() => expect(updates).toEqual([{ user_metadata: { seats: 2 } }]));
});

it("console_033_saving_mine_takes_back_nothing_that_only_the_others_have_changed", async () => {
  renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await typeJson({ plan: "team", seats: 1 });
  stored.user_metadata = { plan: "pro", seats: 7, credit: 9 };
  await save();

  const notice = await screen.findByRole("alert");
  expect(notice).toHaveTextContent("Theirs: proMine: team");
  expect(notice).toHaveTextContent("seats: 7credit: 9");
  await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
  await waitFor(() => expect(updates).toEqual([{ user_metadata: { plan: "team" } }]));
  await waitFor(() =>
    expect(JSON.parse(field().value)).toEqual({ plan: "team", seats: 7, credit: 9 }),
  );
});

it("console_033_text_that_means_nothing_is_not_taken_for_an_empty_object_when_the_question_is_answered", async () => {
  renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await typeJson({ plan: "team", seats: 1 });
  stored.user_metadata = { plan: "pro", seats: 1 };
  await save();
  await screen.findByRole("alert");
  await userEvent.type(field(), "oops");

  await userEvent.click(screen.getByRole("button", { name: "Take theirs" }));
  await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
  expect(field().value).toMatch(/oops$/);
  expect(updates).toEqual([]);
});

it("console_033_what_is_typed_while_it_is_saved_stays", async () => {
  renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await typeJson({ plan: "free", seats: 2 });
  let answer = () => {};
  beforeAnswer = () => new Promise((resolve) => (answer = () => resolve()));
  await save();
  await waitFor(() => expect(updates).toHaveLength(1));

  await typeJson({ plan: "later", seats: 2 });
  answer();

  await waitFor(() => expect(screen.getByRole("button", { name: "Save" })).toBeEnabled());
  expect(JSON.parse(field().value)).toEqual({ plan: "later", seats: 2 });
  beforeAnswer = async () => undefined;
  await save();
  await waitFor(() => expect(updates.at(-1)).toEqual({ user_metadata: { plan: "later" } }));
});

it("console_110_a_key_that_was_taken_out_is_sent_as_null_and_what_stayed_is_not_sent", async () => {
  renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await typeJson({ seats: 1, note: "x" });
  await save();

  await waitFor(() => expect(updates).toEqual([{ user_metadata: { plan: null, note: "x" } }]));
});

it("console_034_a_number_that_json_would_round_is_not_saved", async () => {
  renderConsole(<UserMetadata user={base} refusal={undefined} />);
  await userEvent.clear(field());
  await userEvent.click(field());
  await userEvent.paste('{"plan":"free","seats":9007199254740993}');
  await save();

  expect(await screen.findByText(/has more digits than JSON numbers keep/)).toBeVisible();
  expect(updates).toEqual([]);
});
