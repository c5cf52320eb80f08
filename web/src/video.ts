// SPDX-License-Identifier: Apache-2.0
// The scene as a film, where the browser can: it plays once from the start, and what is drawn on the
// way is recorded.
import { find, style } from "./dom";
import { saveVideo } from "./downloads";
import type { Run } from "./data";
import type { Player } from "./player";
import type { Stage } from "./stage";

const RATE = 30; // pictures a second
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

function videoType(): string | null {
    if (typeof MediaRecorder === "undefined" || !HTMLCanvasElement.prototype.captureStream)
        return null;
    return TYPES.find((type) => MediaRecorder.isTypeSupported(type)) ?? null;
}

export class Video {
    private readonly button = find<HTMLButtonElement>("download-video");
    private readonly words = find("video-words");
    private readonly copy = document.createElement("canvas"); // with what is behind the scene
    private readonly to = this.copy.getContext("2d");
    private readonly type = videoType();
    private recorder: MediaRecorder | null = null;

    constructor(
        private readonly run: Run,
        private readonly player: Player,
        private readonly stage: Stage | null,
    ) {
        this.button.disabled = !stage || !this.type || !this.to;
        if (!this.type) this.button.title = "This browser cannot record";
        this.button.addEventListener("click", () => (this.recorder ? this.stop() : this.start()));
        player.onSwitch(() => {
            if (!player.isPlaying) this.stop();
        });
    }

    get isRecording(): boolean {
        return this.recorder !== null;
    }

    // After a picture, before the browser has let go of it
    take(): void {
        if (!this.recorder || !this.stage || !this.to) return;
        this.to.fillStyle = style("--scene");
        this.to.fillRect(0, 0, this.copy.width, this.copy.height);
        const { domElement } = this.stage.renderer;
        this.to.drawImage(domElement, 0, 0, this.copy.width, this.copy.height);
    }

    private start(): void {
        if (!this.stage || !this.type) return;
        const { clientWidth, clientHeight } = this.stage.renderer.domElement;
        this.copy.width = 2 * Math.round(clientWidth); // even, as codecs ask for
        this.copy.height = 2 * Math.round(clientHeight);
        const parts: Blob[] = [];
        const recorder = new MediaRecorder(this.copy.captureStream(RATE), {
            mimeType: this.type,
            videoBitsPerSecond: 8e6,
        });
        recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
        recorder.addEventListener("stop", () =>
            saveVideo(this.run, new Blob(parts, { type: recorder.mimeType })),
        );
        this.player.pause();
        this.player.seek(this.player.start);
        this.recorder = recorder;
        this.words.textContent = "Stop";
        recorder.start();
        this.player.loop = false;
        find("loop").setAttribute("aria-pressed", "false");
        this.player.play();
    }

    private stop(): void {
        this.words.textContent = "Video";
        const { recorder } = this;
        this.recorder = null;
        recorder?.stop();
    }
}
