import { Button } from "@ui/button";
import { DetailRow, Details } from "@/components/ui/details";
import { capitalise, formatExactPrice } from "@/lib/format";
import { type ImportedProduct, isInDollars } from "../api/import-product";
import { useCreateBrand } from "../api/quick-create";

interface ProductPreviewProps {
  product: ImportedProduct;
  /** The brand of this name was created. */
  onBrandCreated: (id: string, name: string) => void;
  onUse: () => void;
  onDiscard: () => void;
}

/** An imported product before the form is filled in with it. */
export function ProductPreview({ product, onBrandCreated, onUse, onDiscard }: ProductPreviewProps) {
  const createBrand = useCreateBrand(onBrandCreated);
  // Until the brand has its id, the form could not be filled in with it. The lists that are read anew afterwards do not matter.
  const isBrandAwaited = createBrand.isPending && product.brandId === null;
  return (
    <section aria-label="Imported product" className="rounded-md border border-line p-4">
      <div className="grid items-start gap-4 sm:grid-cols-[6rem_minmax(0,1fr)]">
        <img
          src={product.image}
          alt={product.name}
          className="aspect-4/5 w-24 rounded-md border border-line bg-raised object-cover"
        />
        <Details>
          <DetailRow term="Name">{product.name}</DetailRow>
          <DetailRow term="Brand">
            <ImportedBrand
              product={product}
              isPending={createBrand.isPending}
              onCreate={createBrand.mutate}
            />
          </DetailRow>
          <DetailRow term="Price">
            <ImportedPrice product={product} />
          </DetailRow>
          <DetailRow term="Product ID">{product.productId}</DetailRow>
          <DetailRow term="Gender">
            {product.gender === null ? "Not given" : capitalise(product.gender)}
          </DetailRow>
        </Details>
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button variant="primary" disabled={isBrandAwaited} onClick={onUse}>
          Use this product
        </Button>
        <Button variant="quiet" onClick={onDiscard}>
          Discard
        </Button>
      </div>
    </section>
  );
}

function ImportedPrice({ product }: { product: ImportedProduct }) {
  const { price, currency } = product;
  if (price === null) return "Not given";
  if (isInDollars(product)) return formatExactPrice(price);
  return `${price.toFixed(2)} ${currency}, to be converted by you`;
}

interface ImportedBrandProps {
  product: ImportedProduct;
  isPending: boolean;
  onCreate: (name: string) => void;
}

/** The brand of the catalogue, or the offer to make it. */
function ImportedBrand({ product, isPending, onCreate }: ImportedBrandProps) {
  const { brand, brandId } = product;
  if (brand === null) return "Not given";
  if (brandId !== null) return brand;
  return (
    <>
      <span className="block">{brand} is not among your brands yet.</span>
      <Button pending={isPending} onClick={() => onCreate(brand)} className="mt-2">
        Create brand
      </Button>
    </>
  );
}
