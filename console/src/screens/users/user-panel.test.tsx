import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
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

it.each([401, 404, 503])(
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
