import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { PhotoPreview } from "./photo-preview";

const photo = { slot: 1 as const, path: "training-images/u/one.png", url: "/sign/one?token=old" };

it("renews an address that has ended by itself, once", () => {
  const renew = vi.fn();
  const { container, rerender } = render(<PhotoPreview photo={photo} onRenew={renew} />);
  fireEvent.error(container.querySelector("img") ?? container);
  expect(renew).toHaveBeenCalledTimes(1);

  rerender(<PhotoPreview photo={{ ...photo, url: "/sign/one?token=new" }} onRenew={renew} />);
  expect(container.querySelector("img")).toHaveAttribute("src", "/sign/one?token=new");

  // The new one fails too: asking again by itself would never end.
  fireEvent.error(container.querySelector("img") ?? container);
  expect(renew).toHaveBeenCalledTimes(1);
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(renew).toHaveBeenCalledTimes(2);
});

it("offers a retry for an address that could not be made", () => {
  const renew = vi.fn();
  render(<PhotoPreview photo={{ ...photo, url: null }} onRenew={renew} />);

  fireEvent.click(screen.getByRole("button", { name: "Try again" }));

  expect(renew).toHaveBeenCalledTimes(1);
});

it("shows HEIC as a file", () => {
  render(
    <PhotoPreview
      photo={{ ...photo, path: "training-images/u/one.heic", url: null }}
      onRenew={vi.fn()}
    />,
  );

  expect(screen.getByText("HEIC photo")).toBeVisible();
  expect(screen.queryByRole("button")).not.toBeInTheDocument();
});
