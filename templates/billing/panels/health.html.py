BBBB BBBB BBBBBB
 #

BB BBBBBBBBB
  XXXXXX XXXXXXXXXXXXX
    XXXXXXX
      BBB BBB BB BBBBBBBBB
        XXXX
          XXXX
            XXXXXXXX XXXXXXXXXXX XXXXXXXX XX
          XXXXX
          XXX XXXXXXXXXXX XXXXXXXXXXXX
          XXX XXXXXXXXXX XXXXXXXX
            XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
               npgettext(u'number of things', u'%(n)s node, %(gpus)s GPUs', u'%(n)s nodes, %(gpus)s GPUs',count) 
                SSSSS SSSSS SSSSSSSS SSSS
              
                PPPPP PPPPPP PPPPPPPP PPPP
              
            XXXX
          XXXXX
        XXXXX
      BBBBBB
    XXXXXXXX
  XXXXXXXX
BBBB
  XX XXXXXXXXXXXX XXXXXXX gettext(u'No check finds anything now.') XXXX
BBBBB
XXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XX
