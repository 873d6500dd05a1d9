// What pages do beyond what the server sent: updates, and a cursor in charts. Without it every page is complete.
import { followCharts } from "./charts.js";
import { keepFresh } from "./refresh.js";

followCharts(document);
document.querySelector(".ways [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
keepFresh(document, followCharts);
