import { expect, test } from "vitest";
import { findFileProblem, parsePictureAddress, picturePlaces } from "@/lib/admin-pictures";

test("files of other types and larger files are refused with the place's limit", () => {
  expect(findFileProblem({ type: "image/svg+xml", size: 1 }, picturePlaces.brand)).toEqual({
    title: "Invalid file type",
    text: "Please upload an image file",
  });
  expect(
    findFileProblem({ type: "image/png", size: 2 * 1024 * 1024 + 1 }, picturePlaces.category),
  ).toEqual({ title: "File too large", text: "Image must be less than 2MB" });
  expect(findFileProblem({ type: "image/png", size: 1 }, picturePlaces.category)).toBeNull();
});

test("only pictures of public buckets have a file that can be deleted", () => {
  expect(parsePictureAddress("/storage/v1/object/public/images/items/a%20b.png")).toEqual({
    bucket: "images",
    path: "items/a b.png",
  });
  expect(parsePictureAddress("https://elsewhere.example/a.png")).toBeNull();
  expect(parsePictureAddress("/storage/v1/object/public/images")).toBeNull();
});
