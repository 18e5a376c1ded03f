import { expect, test } from "vitest";
import { isProductAddress } from "./import-product";

test("product pages of the retailer are recognised", () => {
  for (const address of [
    "https://www.farfetch.com/shopping/women/khaite-coat-item-12345678.aspx",
    "  https://www.farfetch.com/uk/shopping/men/item-7.aspx?storeid=1#size ",
    "https://farfetch.com/a-item-1.aspx",
  ]) {
    expect(isProductAddress(address), address).toBe(true);
  }
});

test("other addresses are not", () => {
  for (const address of [
    "",
    "coat",
    "http://www.farfetch.com/a-item-1.aspx",
    "https://notfarfetch.com/a-item-1.aspx",
    "https://www.farfetch.com.example/a-item-1.aspx",
    "https://www.farfetch.com/shopping/women/items.aspx",
    "https://shop.example/?u=https://www.farfetch.com/a-item-1.aspx",
  ]) {
    expect(isProductAddress(address), address).toBe(false);
  }
});
