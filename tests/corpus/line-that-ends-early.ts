@timestamps false
@dimensions 3
@classLabel true a b
@data
1,2,3:4,5,6:7,8,9:a
1,2,3:-1.9598315380482803,0.844,?,-0,NaN,1147,1,2,3,4,5,6,7,8,9,41912117952795e3,1,2