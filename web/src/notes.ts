// SPDX-License-Identifier: Apache-2.0
// What is wrong with a picture, in words on it: bodies that sink through the floor, files that were
// not there.
import { find, make } from "./dom";
import { brief } from "./numbers";
import type { SceneData } from "./report";

const MOST = 3; // bodies that are named

export function fillNotes(scene: SceneData, seek: (t: number) => void): void {
    const list = find("notes");
    const deepest = [...scene.sunk].sort((a, b) => b.depth - a.depth);
    for (const { body, depth, t } of deepest.slice(0, MOST)) {
        const { name } = scene.bodies[body];
        const button = make("button", {
            type: "button",
            title: `Go to t = ${brief(t)} s, where it begins`,
            text: `${name} sinks ${brief(depth, 2)} m through the floor`,
        });
        button.addEventListener("click", () => seek(t));
        list.append(make("li", {}, button));
    }
    if (deepest.length > MOST)
        list.append(make("li", {}, make("span", { text: `and ${deepest.length - MOST} more` })));
    if (scene.missing)
        list.append(
            make("li", {}, make("span", { text: `${scene.missing} cannot be read: drawn as a box` })),
        );
    list.hidden = !list.children.length;
}
