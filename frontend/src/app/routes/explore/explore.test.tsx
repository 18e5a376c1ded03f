import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { anOutfit } from "@/testing/outfits";
import { renderAt } from "@/testing/render";
import { Explore } from "./explore";

type Rows = unknown[] | { code: string; message: string };

/** Answers of the REST service by table; what is not named is empty. Returns the queries that came. */
function serve(tables: Record<string, () => Rows | Promise<Rows>>): URL[] {
  const queries: URL[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = new URL(String(input instanceof Request ? input.url : input));
    queries.push(url);
    const rows = await (tables[url.pathname.replace("/rest/v1/", "")]?.() ?? []);
    return Response.json(rows, { status: Array.isArray(rows) ? 200 : 400 });
  });
  return queries;
}

describe("Explore", () => {
  it("shows twelve tiles in the shape of what comes, then the outfits", async () => {
    let arrive: (rows: Rows) => void = () => undefined;
    serve({
      combines: () =>
        new Promise<Rows>((resolve) => {
          arrive = resolve;
        }),
    });
    renderAt("/", <Explore />);

    expect(await screen.findByRole("heading", { name: "Explore Outfits" })).toBeVisible();
    expect(screen.getAllByTestId("outfit-skeleton")).toHaveLength(12);

    arrive([anOutfit("rain-plan"), anOutfit("gallery-opening")]);
    expect(await screen.findByRole("link", { name: /rain-plan/ })).toHaveAttribute(
      "href",
      "/?outfit=rain-plan",
    );
    expect(screen.queryByTestId("outfit-skeleton")).toBeNull();
  });

  it("says what went wrong and tries again when asked", async () => {
    let works = false;
    serve({
      combines: () =>
        works ? [anOutfit("rain-plan")] : { code: "PGRST100", message: "Bad filter." },
    });
    renderAt("/", <Explore />);

    expect(await screen.findByText("The outfits could not be loaded.")).toBeVisible();
    expect(screen.getByText("Bad filter.")).toBeVisible();
    works = true;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: /rain-plan/ })).toBeInTheDocument();
  });

  it("asks the server for the genders of the address", async () => {
    const queries = serve({});
    renderAt("/?gender=men,unisex", <Explore />);

    expect(await screen.findByText("No outfits match this filter.")).toBeVisible();
    const query = queries.find(({ pathname }) => pathname.endsWith("/combines"));
    expect(query?.searchParams.get("gender")).toBe("in.(men,unisex)");
    expect(query?.searchParams.get("limit")).toBe("24");
  });

  it("searches names, and says when there are none", async () => {
    const queries = serve({});
    renderAt("/?q=50%25", <Explore />);

    expect(await screen.findByRole("heading", { name: "No results found" })).toBeVisible();
    const query = queries.find(({ pathname }) => pathname.endsWith("/combines"));
    expect(query?.searchParams.get("name")).toBe("ilike.%50\\%%");
  });

  it("names the period of the ranking, and when it is empty", async () => {
    serve({});
    renderAt("/?section=top&period=week", <Explore />);

    expect(await screen.findByRole("heading", { name: "Top Outfits - This Week" })).toBeVisible();
    expect(await screen.findByText("No top outfits found for this time period")).toBeVisible();
  });

  it("invites a visitor who has the address of a private section to sign in", async () => {
    serve({});
    renderAt("/?section=likes", <Explore />);

    expect(await screen.findByText("Sign in to see the outfits you like.")).toBeVisible();
    expect(screen.getByRole("link", { name: "Sign In" })).toHaveAttribute("href", "/auth");
  });

  it("opens the outfit of the address and walks the list in a circle", async () => {
    serve({ combines: () => [anOutfit("rain-plan"), anOutfit("gallery-opening")] });
    renderAt("/?outfit=rain-plan", <Explore />);

    expect(await screen.findByRole("dialog", { name: "rain-plan" })).toBeInTheDocument();
    await userEvent.keyboard("{ArrowLeft}");
    expect(await screen.findByRole("dialog", { name: "gallery-opening" })).toBeInTheDocument();
    await userEvent.keyboard("{ArrowRight}");
    expect(await screen.findByRole("dialog", { name: "rain-plan" })).toBeInTheDocument();
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).toBeNull();
    expect(screen.getByTestId("address")).toHaveTextContent(/^\/$/);
  });
});
