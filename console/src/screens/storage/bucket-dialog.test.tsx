import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { Toaster } from "@/components/toaster";
import { renderConsole } from "@/testing/render";
import type { Bucket } from "./api";
import { BucketDialog } from "./bucket-dialog";

const bucket = {
  id: "photos",
  name: "photos",
  public: true,
  file_size_limit: null,
  allowed_mime_types: null,
} as Bucket;

afterEach(() => vi.unstubAllGlobals());

it("console_033_saving_my_limit_does_not_make_a_bucket_public_again", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, init?: RequestInit) => {
    if (init?.method === undefined || init.method === "GET") {
      return Response.json([{ ...bucket, public: false, file_size_limit: 1_000_000 }]);
    }
    sent.push(JSON.parse(String(init.body)));
    return Response.json({});
  });
  renderConsole(<BucketDialog bucket={bucket} taken={[]} onClose={vi.fn()} onSaved={vi.fn()} />);
  await userEvent.type(screen.getByLabelText("Largest file"), "5 MB");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));

  expect(await screen.findByRole("alert")).toHaveTextContent("public: false");
  await userEvent.click(screen.getByRole("button", { name: "Save mine" }));
  await waitFor(() =>
    expect(sent).toEqual([{ public: false, file_size_limit: 5_000_000, allowed_mime_types: null }]),
  );
});

/** Answers that are held, and given by the returned function; lists are never read to the end. */
function holdAnswers(): (answer: Response) => void {
  let give = (_: Response) => {};
  vi.stubGlobal("fetch", (_: string, init?: RequestInit) =>
    init?.method === undefined || init.method === "GET"
      ? new Promise(() => {})
      : new Promise<Response>((resolve) => {
          give = resolve;
        }),
  );
  return (answer) => give(answer);
}

/** Types the name of the new bucket and submits the form as Enter does in a browser. */
async function create(text: string): Promise<HTMLInputElement> {
  const name = screen.getByLabelText<HTMLInputElement>("Name");
  await userEvent.type(name, text);
  act(() => name.form?.requestSubmit());
  return name;
}

it("console_033_nothing_is_typed_into_a_bucket_that_is_being_saved_and_the_window_closes_at_the_answer", async () => {
  const answer = holdAnswers();
  const onSaved = vi.fn();
  renderConsole(<BucketDialog taken={[]} onClose={vi.fn()} onSaved={onSaved} />);
  await create("photos");
  expect(await screen.findByText("Saving…")).toBeInTheDocument();
  await userEvent.type(screen.getByLabelText("Name"), "-of-ana");
  await userEvent.click(screen.getByRole("checkbox"));
  expect(screen.getByLabelText("Name")).toHaveValue("photos");
  expect(screen.getByRole("checkbox")).not.toBeChecked();

  answer(Response.json({ name: "photos" }));
  await waitFor(() => expect(onSaved).toHaveBeenCalledWith("photos"));
});

it("console_033_the_focus_is_back_in_its_field_when_saving_has_failed", async () => {
  const answer = holdAnswers();
  renderConsole(<BucketDialog taken={[]} onClose={vi.fn()} onSaved={vi.fn()} />);
  const name = await create("photos");
  await screen.findByText("Saving…");
  // As browsers do it, and jsdom does not.
  name.blur();
  answer(Response.json({ message: "Too slow." }, { status: 500 }));

  expect(await screen.findByText("The bucket was not saved")).toBeVisible();
  await waitFor(() => expect(name).toHaveFocus());
});

it("console_033_a_window_that_was_closed_while_it_was_saved_closes_no_other_one", async () => {
  const answer = holdAnswers();
  const onSaved = vi.fn();
  const view = renderConsole(<BucketDialog taken={[]} onClose={vi.fn()} onSaved={onSaved} />);
  await create("photos");
  await screen.findByText("Saving…");
  view.rerender(<Toaster />);
  answer(Response.json({ name: "photos" }));

  expect(await screen.findByText("Bucket created")).toBeVisible();
  expect(onSaved).not.toHaveBeenCalled();
});
