import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { ServiceError } from "@/lib/service-error";
import { renderAt } from "@/testing/render";
import { PhotoSlot } from "./photo-slot";

vi.mock("@/lib/picture-file", async (original) => ({
  ...(await original<typeof import("@/lib/picture-file")>()),
  preparePicture: async (file: File) => file,
}));
vi.mock("@/lib/resumable-upload", async (original) => ({
  ...(await original<typeof import("@/lib/resumable-upload")>()),
  uploadResumably: async () => {
    throw new ServiceError("The upload was interrupted.", "", 0);
  },
}));

it("a photo stays to be seen when another one could not be uploaded in its place", async () => {
  const photo = { slot: 2 as const, path: "training-images/u/two.png", url: "/sign/two" };
  const { container } = renderAt(
    "/profile",
    <PhotoSlot userId="u" slot={2} photo={photo} onRenew={() => {}} />,
  );
  const file = new File(["x"], "me.png", { type: "image/png" });
  await userEvent.upload(screen.getByLabelText("File of photo 2"), file);

  expect(await screen.findByText("The upload was interrupted.", { selector: "p" })).toBeVisible();
  expect(container.querySelector("img")).toHaveAttribute("src", "/sign/two");
  expect(screen.getByRole("button", { name: "Try again to upload photo 2" })).toBeVisible();
});
