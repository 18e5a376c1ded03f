import { Button } from "@ui/button";
import { Spinner } from "@ui/spinner";
import { Dialog } from "radix-ui";
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { toast } from "@/lib/toast";
import { type Crop, loadPicture, moveCrop, renderCrop, squareOf } from "../api/crop-picture";

interface AvatarCropDialogProps {
  file: File;
  onCrop: (cropped: File) => void;
  onClose: () => void;
}

/** Width and height of the view in CSS pixels. */
const view = 272;
const mostZoom = 4;

/** Dialog in which the visible square of a picture is chosen: by dragging it, or by three sliders. */
export function AvatarCropDialog({ file, onCrop, onClose }: AvatarCropDialogProps) {
  const picture = usePicture(file, onClose);
  const [crop, setCrop] = useState<Crop>({ zoom: 1, x: 0.5, y: 0.5 });
  const [isRendering, setRendering] = useState(false);

  async function finish() {
    if (picture === null) return;
    setRendering(true);
    try {
      onCrop(await renderCrop(picture, crop));
    } catch {
      setRendering(false);
      toast("Invalid File", "Please upload a valid image file", "danger");
    }
  }

  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fade-in fixed inset-0 z-50 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(24rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-6 text-ink shadow-raised outline-none"
        >
          <Dialog.Title className="mb-5 font-serif text-heading">Crop your picture</Dialog.Title>
          {picture === null ? (
            <div role="status" className="flex h-68 items-center justify-center">
              <Spinner />
              <span className="sr-only">Loading the picture...</span>
            </div>
          ) : (
            <CropView picture={picture} crop={crop} onChange={setCrop} />
          )}
          <CropSlider
            label="Zoom"
            min={1}
            max={mostZoom}
            value={crop.zoom}
            onChange={(zoom) => setCrop({ ...crop, zoom })}
          />
          <CropSlider
            label="Horizontal position"
            value={crop.x}
            onChange={(x) => setCrop({ ...crop, x })}
          />
          <CropSlider
            label="Vertical position"
            value={crop.y}
            onChange={(y) => setCrop({ ...crop, y })}
          />
          <div className="mt-6 flex justify-end gap-3">
            <Button onClick={onClose}>Cancel</Button>
            <Button
              variant="primary"
              disabled={picture === null}
              pending={isRendering}
              onClick={finish}
            >
              Use picture
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The file as a picture, null while it is read. A file that the browser cannot read is refused with a notice. */
function usePicture(file: File, onUnreadable: () => void): HTMLImageElement | null {
  const [picture, setPicture] = useState<HTMLImageElement | null>(null);
  const refuse = useRef(onUnreadable);
  refuse.current = onUnreadable;
  useEffect(() => {
    const url = URL.createObjectURL(file);
    let isOver = false;
    loadPicture(url).then(
      (loaded) => {
        if (!isOver) setPicture(loaded);
      },
      () => {
        if (isOver) return;
        toast("Invalid File", "Please upload a valid image file", "danger");
        refuse.current();
      },
    );
    return () => {
      isOver = true;
      URL.revokeObjectURL(url);
    };
  }, [file]);
  return picture;
}

interface CropViewProps {
  picture: HTMLImageElement;
  crop: Crop;
  onChange: (crop: Crop) => void;
}

/** The picture behind a round window; it is dragged with a mouse or a finger. */
export function CropView({ picture, crop, onChange }: CropViewProps) {
  const { naturalWidth: width, naturalHeight: height } = picture;
  const { side, left, top } = squareOf(crop, width, height);
  const scale = view / side;

  /** Where the pointer was last; Safari before 17 does not say how far it has moved. */
  const last = useRef({ x: 0, y: 0 });

  function drag(event: PointerEvent) {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const by = { right: event.clientX - last.current.x, down: event.clientY - last.current.y };
    last.current = { x: event.clientX, y: event.clientY };
    onChange(moveCrop(crop, by, view, width, height));
  }

  return (
    <div
      className="relative mx-auto cursor-grab touch-none overflow-hidden rounded-md bg-line active:cursor-grabbing"
      style={{ width: view, height: view }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        last.current = { x: event.clientX, y: event.clientY };
      }}
      onPointerMove={drag}
    >
      <img
        src={picture.src}
        alt="Chosen for your avatar"
        draggable={false}
        className="absolute max-w-none select-none"
        style={{
          width: width * scale,
          height: height * scale,
          left: -left * scale,
          top: -top * scale,
        }}
      />
      {/* Everything outside of the circle is darkened: avatars are round. */}
      <span
        aria-hidden="true"
        className="pointer-events-none absolute inset-0 rounded-full outline-[120px] outline-scrim outline-solid"
      />
    </div>
  );
}

interface CropSliderProps {
  label: string;
  value: number;
  min?: number;
  max?: number;
  onChange: (value: number) => void;
}

function CropSlider({ label, value, min = 0, max = 1, onChange }: CropSliderProps) {
  return (
    <label className="mt-4 grid grid-cols-[9rem_1fr] items-center gap-3 text-small">
      {label}
      <input
        type="range"
        min={min}
        max={max}
        step={0.01}
        value={value}
        onChange={(event) => onChange(event.target.valueAsNumber)}
        className="h-11 w-full accent-accent"
      />
    </label>
  );
}
