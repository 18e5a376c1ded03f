import * as z from "zod/mini";
import { genders } from "@/lib/genders";
import { insufficientPrivilege, ServiceError } from "@/lib/service-error";
import { servicesUrl } from "@/lib/services";
import { fetchWithToken } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

/** The function's response about a product. `image` is our own copy of the picture. */
const productSchema = z.object({
  name: z.string(),
  brand: z.nullable(z.string()),
  description: z.nullable(z.string()),
  price: z.nullable(z.number()),
  currency: z.nullable(z.string()),
  image: z.string(),
  productId: z.number(),
  gender: z.nullable(z.enum(genders)),
  sourceUrl: z.string(),
  brandId: z.nullable(z.string()),
});

export type ImportedProduct = z.infer<typeof productSchema>;

/** Whether the price can be taken over: the catalogue's prices are in dollars. */
export function isInDollars({ price, currency }: ImportedProduct): boolean {
  return price !== null && (currency === null || currency === "USD");
}

const failureSchema = z.object({ error: z.string() });

/** Whether this is the address of a product page of the retailer. The server checks it again. */
export function isProductAddress(text: string): boolean {
  return /^https:\/\/([a-z0-9-]+\.)*farfetch\.com\/\S*item-\d{1,15}\.aspx([?#]\S*)?$/i.test(
    text.trim(),
  );
}

async function importProduct(url: string): Promise<ImportedProduct> {
  const response = await fetchWithToken(`${servicesUrl}/functions/v1/fetch-farfetch`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ url }),
  });
  if (!response.ok) throw await readFailure(response);
  return productSchema.parse(await response.json());
}

/** A refusal with the reason that the function gives. */
async function readFailure(response: Response): Promise<ServiceError> {
  const body = failureSchema.safeParse(await response.json().catch(() => null));
  const reason = body.success ? body.data.error : `The server answered ${response.status}.`;
  const code = response.status === forbidden ? insufficientPrivilege : "";
  return new ServiceError(reason, code, response.status);
}

/** HTTP status for callers who are no longer administrators. */
const forbidden = 403;
/** HTTP status for a product that is an item already. */
const conflict = 409;

/** Whether the import was refused because the product is an item already. */
export function isExistingProduct(error: unknown): boolean {
  return error instanceof ServiceError && error.status === conflict;
}

/** `onImported` is called when the form is closed, too, so that the stored picture can be deleted. */
export function useImportProduct(onImported: (product: ImportedProduct) => void) {
  return useAdminChange({
    change: importProduct,
    onChanged: onImported,
    failure: (error) => (isExistingProduct(error) ? "Product already exists" : "Import failed"),
    failureText: (error) =>
      isExistingProduct(error)
        ? "Good piece but it is already in your database."
        : "Could not import product details. Please try manually.",
  });
}
