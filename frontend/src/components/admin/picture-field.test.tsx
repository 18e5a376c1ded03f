import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { picturePlaces } from "@/lib/admin-pictures";
import { renderAt } from "@/testing/render";
import { PictureField } from "./picture-field";

const uploads = vi.hoisted(() => ({ end: (_url: string) => {} }));
vi.mock("@/lib/admin-pictures", async (original) => ({
  ...(await original<typeof import("@/lib/admin-pictures")>()),
  uploadPicture: () =>
    new Promise<string>((resolve) => {
      uploads.end = resolve;
    }),
}));

function Form() {
  const [value, setValue] = useState("");
  return (
    <PictureField
      label="Image"
      value={value}
      place={picturePlaces.item}
      onChange={setValue}
      onUploaded={() => undefined}
    />
  );
}

it("no address can be typed while a picture is uploaded, whose own would take its place", async () => {
  renderAt("/", <Form />);
  const address = await screen.findByLabelText("Image");
  await userEvent.type(address, "https://lookbook.test/a.webp");
  await userEvent.upload(
    screen.getByLabelText("Upload image"),
    new File(["x"], "b.webp", { type: "image/webp" }),
  );
  await userEvent.type(address, "2");
  expect(address).toHaveValue("https://lookbook.test/a.webp");
  expect(screen.getByRole("button", { name: "Remove" })).toBeDisabled();

  await act(async () => uploads.end("/storage/v1/object/public/images/items/b.webp"));
  expect(address).toHaveValue("/storage/v1/object/public/images/items/b.webp");
  await userEvent.type(address, "2");
  expect(address).toHaveValue("/storage/v1/object/public/images/items/b.webp2");
});
