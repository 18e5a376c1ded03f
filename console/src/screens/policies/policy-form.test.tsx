import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { SchemaObject } from "@/api/objects";
import type { PolicyDraft } from "@/lib/sql/ddl/policies";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { PolicyForm } from "./policy-form";
import { type EditedPolicy, toDraft } from "./queries";

const policy: SchemaObject = {
  oid: "1",
  schema: "public",
  table: "items",
  name: "own rows",
  command: "all",
  permissive: true,
  roles: ["authenticated"],
  using: "true",
  check: "",
};

/** The policies as the server has them. */
let stored: SchemaObject[];
let saved: string[];
let drafts: PolicyDraft[];

beforeEach(() => {
  stored = [policy];
  saved = [];
  drafts = [];
  vi.stubGlobal("fetch", async (path: string) =>
    path.startsWith("/api/objects/policies")
      ? Response.json({ objects: stored })
      : new Promise(() => {}),
  );
});
afterEach(() => vi.unstubAllGlobals());

function Page({ begun }: { begun: EditedPolicy }) {
  const [edited, setEdited] = useState(begun);
  return (
    <PolicyForm
      table={makeTable({})}
      edited={edited}
      reason={undefined}
      onDraft={(draft) => {
        drafts.push(draft);
        setEdited((now) => ({ ...now, draft }));
      }}
      onSave={(sql) => saved.push(sql)}
      onSimulate={() => undefined}
      onCancel={() => undefined}
    />
  );
}

const open = () => {
  const before = toDraft(policy);
  renderConsole(<Page begun={{ before, draft: before }} />);
};
const save = () => userEvent.click(screen.getByRole("button", { name: "Save as migration" }));

it("console_033_a_policy_that_somebody_else_changes_keeps_both_changes", async () => {
  open();
  await userEvent.selectOptions(screen.getByLabelText("Kind"), "restrictive");
  expect(drafts.at(-1)).toMatchObject({ isPermissive: false, using: "true" });
  stored = [{ ...policy, using: "owner = 1" }];
  await save();

  await waitFor(() => expect(saved).toHaveLength(1));
  // The policy is made anew, with the condition of the other person.
  expect(saved[0]).toContain("as restrictive");
  expect(saved[0]).toContain("using (owner = 1)");
});

it("console_033_a_policy_that_both_change_is_asked_about_and_one_that_is_gone_is_said", async () => {
  open();
  await userEvent.click(screen.getByLabelText("public"));
  stored = [{ ...policy, roles: ["anon"] }];
  await save();
  expect(await screen.findByText(/Somebody else has changed this/)).toBeVisible();
  expect(saved).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Take theirs" }));

  await userEvent.selectOptions(screen.getByLabelText("Kind"), "restrictive");
  stored = [];
  await save();
  expect(await screen.findAllByText(/does not exist any more/)).not.toHaveLength(0);
  expect(saved).toEqual([]);
});

it("a template is saved as it is", async () => {
  renderConsole(<Page begun={{ before: null, draft: { ...toDraft(policy), name: "new one" } }} />);
  await save();

  await waitFor(() => expect(saved[0]).toContain('create policy "new one"'));
});
