// A PNG as WebP, which is a fifth of it where it is of a scene; a page of the browser makes it.
export const shrink = (page, png) =>
  page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.85 });
    return [...new Uint8Array(await blob.arrayBuffer())];
  }, png.toString("base64"));
