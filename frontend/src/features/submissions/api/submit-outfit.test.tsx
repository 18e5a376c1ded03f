import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { OvertakenError } from "@/lib/save-changes";
import { renderAt } from "@/testing/render";
import { composePicture } from "./compose-picture";
import {
  type Draft,
  emptyDraft,
  type PickedItem,
  removeDraft,
  type SubmissionFields,
  storeDraft,
} from "./draft";
import { baseOf, draftOf, followSaved, type SavedSubmission } from "./get-submission";
import { useSubmitOutfit } from "./submit-outfit";
import { useDraft } from "./use-draft";

// jsdom has no canvas to draw on.
vi.mock("./compose-picture", () => ({
  composePicture: vi.fn(async () => new File(["x"], "x.webp", { type: "image/webp" })),
}));

const draft: Draft = {
  ...emptyDraft(),
  name: "Second look",
  items: [
    { id: "i1", name: "Coat", image: "/coat.webp", image_color: null, price: 1, gender: "women" },
  ],
};

/** The outfit that an earlier attempt has saved with the draft's id. */
let saved: Record<string, unknown>;
let updates: unknown[];
/** Bodies of deletions in storage, and the outfits that show the asked picture. */
let deleted: string[];
let showing: { id: string }[];

beforeEach(() => {
  updates = [];
  attempts = [];
  failure = undefined;
  deleted = [];
  showing = [];
  saved = {
    status: "pending",
    version: 1,
    name: "Second look",
    description: "User-created outfit with 1 items",
    main_image: "/coat.webp",
    gender: "unisex",
    item_ids: ["i1"],
  };
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (String(input).includes("/storage/v1/")) {
      if (init?.method === "DELETE") deleted.push(String(init.body));
      return Response.json({ Key: "k", Id: "i" });
    }
    if (String(input).includes("main_image=eq")) return Response.json(showing);
    if (init?.method === "POST") {
      return Response.json({ code: "23505", message: "duplicate key" }, { status: 409 });
    }
    if (init?.method !== "PATCH") return Response.json(saved);
    const { version, ...changes } = JSON.parse(String(init.body));
    if (version !== saved.version) {
      return Response.json({ code: "PT409", message: "Changed." }, { status: 409 });
    }
    updates.push(changes);
    return Response.json([{ status: "pending" }]);
  });
});

/** What was sent, and why it was refused. */
let attempts: SubmissionFields[];
let failure: unknown;

function Submit({ submitted }: { submitted: Draft }) {
  const { mutate, data } = useSubmitOutfit();
  const onSend = (fields: SubmissionFields) => attempts.push(fields);
  const onError = (error: unknown) => {
    failure = error;
  };
  return (
    <>
      <button
        type="button"
        onClick={() => mutate({ userId: "u", draft: submitted, edited: null, onSend }, { onError })}
      >
        Submit
      </button>
      <p>{`status: ${data?.status ?? ""}`}</p>
    </>
  );
}

async function submit(submitted: Draft): Promise<void> {
  renderAt("/", <Submit submitted={submitted} />);
  fireEvent.click(await screen.findByRole("button", { name: "Submit" }));
}

it("says submitted when an earlier attempt has saved the same outfit", async () => {
  await submit(draft);

  expect(await screen.findByText("status: pending")).toBeVisible();
  expect(updates).toEqual([]);
});

it("says which picture an outfit shows when the sheet of the wizard could not be drawn", async () => {
  vi.mocked(composePicture).mockRejectedValueOnce(new DOMException("lost", "EncodingError"));
  const [coat] = draft.items;
  await submit({
    ...draft,
    items: [
      { ...coat, id: "i0", name: "Hat", image: null } as PickedItem,
      { ...coat, name: "Coat" } as PickedItem,
      { ...coat, id: "i2", name: "Shoes", image: "/shoes.webp" } as PickedItem,
    ],
  });

  expect(await screen.findByText(/it shows that of Coat and not all items/)).toBeVisible();
  expect(attempts).toMatchObject([{ main_image: "/coat.webp" }]);
});

it("saves the changes when an earlier attempt has saved another state of the draft", async () => {
  saved.name = "First look";
  saved.item_ids = ["i0"];
  await submit(draft);

  expect(await screen.findByText("status: pending")).toBeVisible();
  expect(updates).toMatchObject([{ name: "Second look", item_ids: ["i1"] }]);
});

it("takes away the name and the photo of an earlier attempt when the draft has neither any more", async () => {
  const own = "/storage/v1/object/public/user-outfit-images/u/";
  saved = { ...saved, main_image: `${own}1-photo.webp` };
  await submit({ ...draft, name: "", picture: { kind: "composed" } });

  expect(await screen.findByText("status: pending")).toBeVisible();
  expect(updates).toMatchObject([
    {
      name: expect.stringMatching(/^Outfit \d{4}-/),
      main_image: expect.stringContaining(`${own}composed-laid-`),
    },
  ]);
});

it("deletes the photo of an earlier attempt unless another outfit shows it", async () => {
  const own = "/storage/v1/object/public/user-outfit-images/u/";
  saved = { ...saved, main_image: `${own}1-photo.webp` };
  await submit(draft);
  await waitFor(() => expect(deleted).toHaveLength(1));
  expect(deleted[0]).toContain("u/1-photo.webp");

  // One that is published already.
  showing = [{ id: "published" }];
  saved = { ...saved, main_image: `${own}2-photo.webp` };
  fireEvent.click(screen.getByRole("button", { name: "Submit" }));
  await waitFor(() => expect(updates).toHaveLength(2));
  expect(await screen.findByText("status: pending")).toBeVisible();
  expect(deleted).toHaveLength(1);
});

it("takes a picture that is drawn anew and a name by the time as the same in the next attempt", async () => {
  const own = "/storage/v1/object/public/user-outfit-images/u/";
  saved = {
    ...saved,
    status: "approved",
    name: "Outfit 2026-01-31 09:05",
    main_image: `${own}composed-laid-1.webp`,
  };
  await submit({ ...draft, name: " ", picture: { kind: "composed" } });

  expect(await screen.findByText("status: approved")).toBeVisible();
  expect(updates).toEqual([]);
});

it("says what is on the site when the earlier state can no longer be changed", async () => {
  saved = { ...saved, status: "approved", name: "First look" };
  await submit(draft);

  expect(await screen.findByText(/It was saved before as “First look”/)).toBeVisible();
  expect(updates).toEqual([]);
});

describe("an attempt whose answer was lost, and an administrator who has changed the outfit since", () => {
  const sent: SubmissionFields = {
    name: "Second look",
    description: "User-created outfit with 1 items",
    main_image: "/coat.webp",
    gender: "unisex",
    item_ids: ["i1"],
  };

  beforeEach(() => {
    saved = { ...saved, version: 2, name: "Of the admin" };
  });

  it("is submitted already when nothing was changed here, also after it was approved", async () => {
    saved = { ...saved, status: "approved" };
    await submit({ ...draft, sent: [sent] });

    expect(await screen.findByText("status: approved")).toBeVisible();
    expect(updates).toEqual([]);
    expect(attempts).toEqual([sent]);
  });

  it("writes what was changed here beside it", async () => {
    await submit({ ...draft, sent: [sent], gender: "women" });

    await waitFor(() => expect(updates).toEqual([{ gender: "women" }]));
    expect(await screen.findByText("status: pending")).toBeVisible();
  });

  it("asks where both have changed the same", async () => {
    await submit({ ...draft, sent: [sent], name: "Third look" });

    await waitFor(() => expect(failure).toBeInstanceOf(OvertakenError));
    const { theirs, present } = failure as OvertakenError;
    expect([theirs, present.item_ids]).toEqual([{ name: "Of the admin" }, ["i1"]]);
    expect(updates).toEqual([]);
  });

  it("asks when nothing is known of what was sent", async () => {
    await submit(draft);

    await waitFor(() => expect(failure).toBeInstanceOf(OvertakenError));
    expect((failure as OvertakenError).theirs).toEqual({ name: "Of the admin" });
    expect(updates).toEqual([]);
  });

  it("takes none of its own attempts for somebody else's change", async () => {
    saved = { ...saved, name: "Second look" };
    await submit({ ...draft, sent: [sent, { ...sent, name: "Third look" }], name: "Fourth look" });

    await waitFor(() => expect(updates).toEqual([{ name: "Fourth look" }]));
  });

  it("saves over it what was answered to be kept", async () => {
    const present = { ...sent, name: "Of the admin", version: 2, items: draft.items };
    const answered = followSaved(present, []);
    await submit({ ...draft, ...answered, sent: [sent], name: "Third look" });

    await waitFor(() => expect(updates).toEqual([{ name: "Third look" }]));
  });
});

const edited: SavedSubmission = {
  id: draft.id,
  version: 3,
  name: "First look",
  description: "User-created outfit with 1 items",
  main_image: "/coat.webp",
  gender: "unisex",
  item_ids: ["i1"],
  status: "pending",
  rejection_reason: null,
  items: draft.items,
};

function Edit({ submitted }: { submitted: Draft }) {
  const { mutate, data } = useSubmitOutfit();
  const variables = { userId: "u", draft: submitted, edited, onSend: () => undefined };
  const onError = (error: unknown) => {
    failure = error;
  };
  return (
    <button type="button" onClick={() => mutate(variables, { onError })}>
      {`Save ${data ?? ""}`}
    </button>
  );
}

describe("an edit of a saved outfit", () => {
  let present: SavedSubmission;

  beforeEach(() => {
    present = edited;
    vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
      if (init?.method !== "PATCH") return Response.json(present);
      const { version, ...changes } = JSON.parse(String(init.body));
      if (version !== present.version) {
        const details = JSON.stringify({ version: present.version });
        return Response.json({ code: "PT409", message: "Changed.", details }, { status: 409 });
      }
      updates.push(changes);
      return Response.json([{ status: "pending" }]);
    });
  });

  async function save(submitted: Draft): Promise<void> {
    renderAt("/", <Edit submitted={submitted} />);
    fireEvent.click(await screen.findByRole("button", { name: "Save" }));
  }

  it("writes the changed columns beside what an administrator has changed", async () => {
    present = { ...edited, version: 4, gender: "women" };
    await save({ ...draftOf(edited), name: "Second look" });

    await waitFor(() => expect(updates).toMatchObject([{ name: "Second look" }]));
    expect(updates[0]).not.toHaveProperty("gender");
  });

  it("does not overwrite what an administrator has changed since its draft began", async () => {
    present = { ...edited, version: 4, name: "Of the admin", item_ids: ["i1", "i2"] };
    await save({ ...draftOf(edited), name: "Second look" });

    await waitFor(() => expect(failure).toBeInstanceOf(OvertakenError));
    const { theirs, others } = failure as OvertakenError;
    expect([theirs, others]).toEqual([{ name: "Of the admin" }, ["item_ids"]]);
    expect(updates).toEqual([]);
    const taken = followSaved({ ...present, items: [] }, ["item_ids"]);
    expect(taken).toEqual({ base: baseOf(present), items: [] });
  });

  it("does not take for somebody else's change what it has saved itself without an answer", async () => {
    present = { ...edited, version: 4, name: "Second look" };
    const { items: _, ...contents } = present;
    await save({ ...draftOf(edited), sent: [contents], name: "Third look" });

    await waitFor(() => expect(updates).toEqual([{ name: "Third look" }]));
    expect(failure).toBeUndefined();
  });

  it("asks nothing where an administrator has written a description while the items were changed", async () => {
    present = { ...edited, version: 4, description: "Of the admin" };
    await save({ ...draftOf(edited), items: [...draft.items, ...draft.items] });

    await waitFor(() => expect(updates).toEqual([{ item_ids: ["i1", "i1"] }]));
  });

  it("submits again although nothing is changed, and takes nothing back", async () => {
    present = { ...edited, version: 4, name: "Of the admin" };
    await save(draftOf(edited));

    await waitFor(() => expect(updates).toEqual([{}]));
  });
});

function Shown() {
  const { draft: shown } = useDraft("u", null);
  return <p>{`${shown.name}/${shown.id}`}</p>;
}

it("shows the draft of another tab, and begins anew when that tab has submitted it", async () => {
  renderAt("/", <Shown />);
  await screen.findByText(/^\/[0-9a-f-]{36}$/);
  storeDraft("u", null, draft);
  const tell = () =>
    window.dispatchEvent(new StorageEvent("storage", { key: "lookbook:create-outfit:u" }));
  tell();
  expect(await screen.findByText(`Second look/${draft.id}`)).toBeVisible();

  removeDraft("u", null);
  tell();
  await waitFor(() => expect(screen.queryByText(/Second look/)).not.toBeInTheDocument());
  expect(screen.queryByText(new RegExp(draft.id))).not.toBeInTheDocument();
});
