// SPDX-License-Identifier: Apache-2.0
// Ellipses of places that are uncertain: drawn where the run says how well they are known, and
// smaller behind a filter.
import { check, openWindow, picture, settle } from "./harness.mjs";

async function isDrawn({ page, quiet, show }, eyes, html) {
    await show(html);
    await page.click("#whole-view");
    await page.focus("#timeline");
    await page.keyboard.press("End");
    await settle(page);
    await page.waitForTimeout(600); // until the camera rests
    const shown = await picture(page);
    check(
        (await page.getAttribute("#show-spreads", "aria-pressed")) === "true",
        "the ellipses are not shown at first",
    );
    await page.click("#show-spreads");
    await eyes.wait(page, shown, { least: 1e-3 }, "hiding the ellipses changed nothing");
    await page.click("#show-spreads");
    await eyes.wait(page, shown, { most: 5e-4 }, "the ellipses did not come back");
    quiet();
}

export async function useSpreads(steps, browser, eyes, reports) {
    const opened = await openWindow(browser);
    const model = reports.model("robot_satellite");
    const drive = ["--case", "drive", "--every", "0.5"];
    await steps.run("ellipses of uncertain places are drawn", 30, async () => {
        await isDrawn(opened, eyes, await reports.make("spread", model, ...drive));
    });
    await steps.run("behind a filter they are smaller", 30, async () => {
        await isDrawn(
            opened,
            eyes,
            await reports.make("filtered", model, ...drive, "--filter"),
        );
        const ends = ["spread", "filtered"].map((name) => reports.table(name).at(-1)["sd(body.x)"]);
        check(ends[1] < ends[0] / 10, `sd(body.x) is ${ends}`);
    });
    await steps.run("without them there is no button to press", 20, async () => {
        await opened.show(await reports.makeShort("tricycle"));
        check(await opened.page.isDisabled("#show-spreads"), "the button is not disabled");
    });
    await opened.close();
}
