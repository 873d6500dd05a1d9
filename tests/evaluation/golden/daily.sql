SELECT
    roundDown(at_us, {day_starts:Array(Int64)}) AS day_us,
    count(),
    quantileExact(0.989999999999)(clock_end_to_end),
    quantileExact(0.989999999999)(clock_excluding_queue)
FROM
(
SELECT * FROM rows
)
WHERE is_ok
GROUP BY day_us

/* {
 "day_starts": [
  0,
  86400000000
 ]
} */
