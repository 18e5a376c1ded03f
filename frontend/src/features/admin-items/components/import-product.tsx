import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { isEnter } from "@ui/keys";
import { Import } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { useTypedBeside } from "@/components/admin/form-work";
import { Input } from "@/components/ui/input";
import { messageOf } from "@/lib/service-error";
import {
  type ImportedProduct,
  isExistingProduct,
  isProductAddress,
  useImportProduct,
} from "../api/import-product";
import { ProductPreview } from "./product-preview";

interface ImportProductProps {
  /** Called with the address of the stored picture, so that the form can delete it when it is not kept. */
  onUploaded: (url: string) => void;
  /** Called when the administrator wants to fill in the form with this product. */
  onUse: (product: ImportedProduct) => void;
}

/** Reads a product from the retailer's page, shows it, and fills in the form. Not a form itself: it is inside of one. */
export function ImportProduct({ onUploaded, onUse }: ImportProductProps) {
  const [url, setUrl] = useState<string | null>(null);
  const [product, setProduct] = useState<ImportedProduct | null>(null);
  // The address of a product that was discarded: nobody misses it.
  const [discarded, setDiscarded] = useState("");
  const run = useImportProduct((found) => {
    onUploaded(found.image);
    setProduct(found);
  });
  const isAddressTyped = url !== null && url.trim() !== "" && url !== discarded;
  useTypedBeside(product !== null || isAddressTyped);
  if (url === null) {
    return (
      <Button onClick={() => setUrl("")} className="self-start">
        <Import aria-hidden="true" className="size-4" strokeWidth={1.7} />
        Import from Farfetch
      </Button>
    );
  }

  /** Another product may be shown, or none, when the brand is there. */
  function takeBrand(brandId: string, brand: string) {
    setProduct((current) => (current?.brand === brand ? { ...current, brandId } : current));
  }
  if (product !== null) {
    return (
      <ProductPreview
        product={product}
        onBrandCreated={takeBrand}
        onUse={() => {
          onUse(product);
          setProduct(null);
          setUrl(null);
        }}
        onDiscard={() => {
          setProduct(null);
          setDiscarded(url);
        }}
      />
    );
  }

  const isRecognised = isProductAddress(url);
  function start(address: string) {
    run.mutate(address.trim());
  }
  function startOnEnter(event: KeyboardEvent, address: string) {
    if (!isEnter(event)) return;
    // Enter would otherwise save the item, whose form is around this field.
    event.preventDefault();
    if (isRecognised && !run.isPending) start(address);
  }

  return (
    <section aria-label="Import from Farfetch" className="rounded-md border border-line p-4">
      <Field
        label="Product URL"
        error={
          url.trim() === "" || isRecognised
            ? undefined
            : "Please enter a valid Farfetch product URL"
        }
        hint="The address of the product's page, as your browser shows it."
      >
        {(attributes) => (
          <Input
            {...attributes}
            autoFocus
            inputMode="url"
            placeholder="https://www.farfetch.com/…-item-12345678.aspx"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
            onKeyDown={(event) => startOnEnter(event, url)}
          />
        )}
      </Field>
      <div className="mt-3 flex gap-2">
        <Button
          variant="primary"
          pending={run.isPending}
          disabled={!isRecognised}
          onClick={() => start(url)}
        >
          Import
        </Button>
        <Button variant="quiet" disabled={run.isPending} onClick={() => setUrl(null)}>
          Cancel import
        </Button>
      </div>
      <p role="status" className="sr-only">
        {run.isPending && "Importing the product"}
      </p>
      {run.isError && !run.isPending && !isExistingProduct(run.error) && (
        <p role="alert" className="mt-3 text-danger text-small">
          Failed to import product data: {messageOf(run.error, "the server gave no reason")}
        </p>
      )}
    </section>
  );
}
