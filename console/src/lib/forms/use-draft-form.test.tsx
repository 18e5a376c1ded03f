import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { useDraftForm } from "./use-draft-form";

interface FormProps {
  proposal: string;
  isNew: boolean;
  onSubmit: (draft: { name: string }, saved: { name: string }) => void;
}

function Form({ proposal, isNew, onSubmit }: FormProps) {
  const form = useDraftForm({
    saved: { name: proposal },
    isNew,
    findProblem: () => null,
    onSubmit,
  });
  return (
    <>
      <output>{form.draft.name}</output>
      <button type="button" onClick={() => void form.submit()}>
        Save
      </button>
    </>
  );
}

it("console_057_what_a_new_thing_begins_with_is_a_proposal_that_stays_and_what_is_saved_is_followed", async () => {
  const onSubmit = vi.fn();
  const { rerender } = render(<Form proposal="Query 1" isNew onSubmit={onSubmit} />);
  rerender(<Form proposal="Query 2" isNew onSubmit={onSubmit} />);
  expect(screen.getByText("Query 1")).toBeVisible();
  await userEvent.click(screen.getByRole("button"));
  await waitFor(() =>
    expect(onSubmit).toHaveBeenCalledWith({ name: "Query 1" }, { name: "Query 1" }),
  );

  rerender(<Form key="saved" proposal="one" isNew={false} onSubmit={onSubmit} />);
  rerender(<Form key="saved" proposal="two" isNew={false} onSubmit={onSubmit} />);
  expect(await screen.findByText("two")).toBeVisible();
});

function ReadingForm({ saved, read }: { saved: string; read: () => Promise<{ name: string }> }) {
  const form = useDraftForm({
    saved: { name: saved },
    read,
    isNew: false,
    findProblem: () => null,
    onSubmit: () => undefined,
  });
  return (
    <>
      <output>{form.draft.name}</output>
      <button type="button" onClick={() => void form.submit()}>
        {form.isSaving ? "Saving" : "Save"}
      </button>
    </>
  );
}

it("console_033_what_others_save_during_an_attempt_is_followed_when_it_has_failed", async () => {
  let fail = () => {};
  const read = () =>
    new Promise<{ name: string }>((_, reject) => {
      fail = () => reject(new Error("away"));
    });
  const { rerender } = render(<ReadingForm saved="one" read={read} />);
  await userEvent.click(screen.getByRole("button"));
  await screen.findByText("Saving");
  rerender(<ReadingForm saved="two" read={read} />);
  expect(screen.getByText("one")).toBeVisible();

  fail();
  expect(await screen.findByText("two")).toBeVisible();
});
