BBBB BBBB BBBBBB
 #

BB BBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Now') X
            XXXXXXXFFFFFFFFFFFFXX
      XXXXX XXXXXXXXXXXXXXXXXXFFFXXXXXXX
    XXXXXXXXX
    XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Energy') X
            XXXXXXXFFFFFFFFFFFFFFFF XXXXX
      XXXXX XXXXXXXXXXXXXXXXXX
         gettext(u'of measured GPUs, %(share)s of GPU time') 
          SS SSSSSSSS SSSSS SSSSSSSSS SS SSS SSSS
        
      XXXXXXX
    XXXXXXXXX
  XXXXXX
  XXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XX
BBBB
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'No node reports the power of its GPUs. Install the agent, or add a telemetry source.') 
  XXXX
BBBBB
