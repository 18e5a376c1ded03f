import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";

const userId = "00000000-0000-4000-8000-000000000001";
const outfitId = "00000000-0000-4000-8000-0000000000aa";

/** Stubs `fetch`: the liked ids, and the response to writes. */
function serve(liked: string[], write: () => Response) {
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = String(input instanceof Request ? input.url : input);
    if (init?.method === "POST" || init?.method === "DELETE") return write();
    if (url.includes("/likes"))
      return Response.json(liked.map((id) => ({ combine_id: id, product_id: null })));
    return Response.json(null);
  });
}

/** Imports the button anew, because the client reads the stored session when its module is loaded. */
async function openButton() {
  const [{ LikeButton }, { renderAt: render }] = await Promise.all([
    import("./like-button"),
    import("@/testing/render"),
  ]);
  render("/?section=top", <LikeButton outfitId={outfitId} outfitName="Rain plan" />);
}

describe("LikeButton", () => {
  beforeEach(() => vi.resetModules());

  it("sends a visitor to the sign-in page and tells why", async () => {
    serve([], () => new Response(null, { status: 201 }));
    await openButton();

    const button = await screen.findByRole("button", { name: "Like Rain plan" });
    await waitFor(() => expect(button).not.toHaveAttribute("aria-disabled"));
    await userEvent.click(button);

    expect(await screen.findByText("Authentication required")).toBeVisible();
    expect(screen.getByText("Please sign in to like this item.")).toBeVisible();
    expect(screen.getByTestId("address")).toHaveTextContent("/auth");
  });

  it("shows the like at once and confirms it when the server has stored it", async () => {
    const { storeSession } = await import("@/testing/fake-session");
    storeSession(userId);
    let respond: (response: Response) => void = () => undefined;
    const pendingResponse = new Promise<Response>((resolve) => {
      respond = resolve;
    });
    vi.stubGlobal("fetch", async (_input: unknown, init?: RequestInit) =>
      init?.method === "POST" ? pendingResponse : Response.json([]),
    );
    await openButton();

    const button = await screen.findByRole("button", { name: "Like Rain plan" });
    await waitFor(() => expect(button).not.toHaveAttribute("aria-disabled"));
    await userEvent.click(button);

    expect(await screen.findByRole("button", { pressed: true })).toBeInTheDocument();
    expect(screen.queryByText("Liked!")).toBeNull();
    respond(new Response(null, { status: 201 }));
    expect(await screen.findByText("Liked!")).toBeVisible();
  });

  it("rolls the like back when the server refuses it", async () => {
    const { storeSession } = await import("@/testing/fake-session");
    storeSession(userId);
    serve([], () => Response.json({ code: "XX000", message: "Out of ink." }, { status: 500 }));
    await openButton();

    const button = await screen.findByRole("button", { name: "Like Rain plan" });
    await waitFor(() => expect(button).not.toHaveAttribute("aria-disabled"));
    await userEvent.click(button);

    // Not the server's own words about a fault of its own.
    expect(await screen.findByText("Failed to like the item. Please try again.")).toBeVisible();
    expect(await screen.findByRole("button", { pressed: false })).toBeInTheDocument();
  });
});
