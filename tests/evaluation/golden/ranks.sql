SELECT
    quantilesExactIf({sort_0_level_50:Float64}, {sort_0_level_99:Float64}, {sort_0_level_100:Float64})(assumeNotNull(clock_end_to_end), (in_objective_0) AND (is_ok)) AS sort_0,
    quantilesExactIf({sort_1_level_50:Float64}, {sort_1_level_99:Float64}, {sort_1_level_100:Float64})(assumeNotNull(clock_queue), (in_objective_1) AND ((is_ok OR is_failed OR is_aborted) AND (clock_queue IS NOT NULL))) AS sort_1,
    quantilesExactIf({sort_2_level_50:Float64}, {sort_2_level_99:Float64}, {sort_2_level_100:Float64})(assumeNotNull(clock_inference), (in_objective_2) AND ((is_ok) AND (clock_inference IS NOT NULL))) AS sort_2
FROM
(
SELECT * FROM rows
)

/* {
 "sort_0_level_50": 0.495,
 "sort_0_level_99": 0.985,
 "sort_0_level_100": 0.995,
 "sort_1_level_50": 0.495,
 "sort_1_level_99": 0.985,
 "sort_1_level_100": 0.995,
 "sort_2_level_50": 0.495,
 "sort_2_level_99": 0.985,
 "sort_2_level_100": 0.995
} */
