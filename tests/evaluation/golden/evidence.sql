SELECT
    intDiv(at_us, 3600000000) * 3600000000 AS hour_us,
    count(),
    lower(hex(SHA256(arrayStringConcat(arraySort(groupArray(concatWithSeparator('\t', lower(hex(content_hash)), ifNull(toString(at_us), '\\N'), ifNull(toString(k), '\\N'), ifNull(toString(status), '\\N'), ifNull(toString(stream), '\\N'), ifNull(toString(attempts), '\\N'), ifNull(toString(end_to_end_us), '\\N'), ifNull(toString(connected_us), '\\N'), ifNull(toString(queue_us), '\\N'), ifNull(toString(prefill_us), '\\N'), ifNull(toString(decode_us), '\\N'), ifNull(toString(frontend_us), '\\N'), ifNull(toString(time_to_first_token_us), '\\N'), ifNull(toString(prompt_tokens), '\\N'), ifNull(toString(cached_tokens), '\\N'), ifNull(toString(completion_tokens), '\\N'), ifNull(toString(decode_tokens), '\\N'), ifNull(toString(simulated), '\\N'), replaceAll(replaceAll(replaceAll(toString(tenant), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(model), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(route), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(region), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(outcome), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(error_code), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(inference_mode), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), replaceAll(replaceAll(replaceAll(toString(engine), '\\', '\\\\'), '\t', '\\t'), '\n', '\\n')))), '\n'))))
FROM
(
SELECT * FROM rows
)
WHERE at_us >= {rows_from:Int64} AND at_us < {rows_to:Int64}
GROUP BY hour_us
ORDER BY hour_us

/* {
 "rows_from": 1790784000000000,
 "rows_to": 1793462400000000
} */
